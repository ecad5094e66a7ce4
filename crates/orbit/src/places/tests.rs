use super::read::{Gazetteer, folded};
use super::*;
use proptest::prelude::*;

fn found(text: &str) -> String {
    find(text).unwrap().to_string()
}

fn wrong(text: &str) -> String {
    find(text).unwrap_err().to_string()
}

#[test]
fn every_line_of_the_packed_places_is_read() {
    let text = include_str!("../../data/places.txt");
    let lines = text.lines().filter(|l| !l.starts_with(['#', '@', '=']));
    let cities = Gazetteer::get().cities();
    assert_eq!(cities.len(), lines.count());
    assert!(cities.len() > 7000, "{}", cities.len());
    assert!(text.len() < 200_000, "{}", text.len());
    assert!(
        cities
            .iter()
            .all(|c| !c.name.is_empty() && !c.country.is_empty())
    );
}

#[test]
fn a_name_is_found_whatever_its_case_accents_and_punctuation() {
    for (typed, expected) in [
        ("Berlin", "Berlin, Germany"),
        ("berlin", "Berlin, Germany"),
        ("  NAIROBI ", "Nairobi, Kenya"),
        ("Sao Paulo", "Sao Paulo, Brazil"),
        ("são paulo", "Sao Paulo, Brazil"),
        ("Saint Petersburg, Russia", "St. Petersburg, Russia"),
        ("st petersburg, RU", "St. Petersburg, Russia"),
        ("Washington", "Washington, D.C."),
        ("Washington, D.C.", "Washington, D.C."),
        ("washington dc, usa", "Washington, D.C."),
        ("Köln", "Cologne, Germany"),
        ("Goteborg", "Göteborg, Sweden"),
        ("Kyiv", "Kiev, Ukraine"),
        ("Kraków", "Kraków, Poland"),
        ("ANCHORAGE", "Anchorage, Alaska"),
        ("Oslo", "Oslo, Norway"),
        ("McMurdo", "McMurdo Station, Antarctica"),
    ] {
        assert_eq!(found(typed), expected, "{typed}");
    }
    let berlin = find("Berlin").unwrap();
    assert!((berlin.place.latitude() - 52.52).abs() < 0.02);
    assert!((berlin.place.longitude() - 13.4).abs() < 0.02);
    assert_eq!((berlin.code, berlin.people), (Some("DE"), 3_406_000));
}

#[test]
fn a_region_or_a_country_tells_places_of_one_name_apart() {
    for (typed, expected) in [
        ("London", "London, United Kingdom"),
        ("London, UK", "London, United Kingdom"),
        ("London, England", "London, United Kingdom"),
        ("London, Canada", "London, Ontario"),
        ("london,ca", "London, Ontario"),
        ("London, Ontario, Canada", "London, Ontario"),
        ("Portland, Oregon", "Portland, Oregon"),
        ("Portland, OR", "Portland, Oregon"),
        ("Portland, Maine, USA", "Portland, Maine"),
        ("Portland, Australia", "Portland, Victoria"),
        // The code of California, where Canada has none of the name.
        ("San Jose, CA", "San Jose, California"),
    ] {
        assert_eq!(found(typed), expected, "{typed}");
    }
}

#[test]
fn an_ambiguous_name_is_asked_back_with_what_to_type() {
    let text = wrong("Birmingham");
    assert_eq!(
        text,
        "`Birmingham` is ambiguous: write `Birmingham, United Kingdom` or `Birmingham, Alabama`"
    );
    let text = wrong("Springfield");
    assert!(text.contains("`Springfield, Massachusetts`"), "{text}");
    // The country alone does not say which.
    assert!(wrong("Springfield, USA").contains("ambiguous"));
    // Ten times the people of every other: no question.
    assert_eq!(found("Paris"), "Paris, France");
    assert_eq!(found("Portland"), "Portland, Oregon");
}

#[test]
fn an_unknown_name_gets_the_nearest() {
    assert_eq!(
        wrong("Nairobbi"),
        "unknown place `Nairobbi`: did you mean `Nairobi, Kenya`?"
    );
    assert_eq!(
        wrong("Berlin, Kenya"),
        "there is no `Berlin, Kenya`; expected `Berlin, Germany`"
    );
    assert_eq!(
        wrong("xqzzkwv"),
        "unknown place `xqzzkwv`: expected a city, or LATITUDE,LONGITUDE in degrees"
    );
    assert!(wrong("").contains("unknown place ``"));
    assert!(wrong(",,,").contains("unknown place"));
}

#[test]
fn a_site_is_a_name_or_degrees() {
    let site = |text: &str| text.parse::<Site>();
    assert_eq!(site("Berlin").unwrap().name(), Some("Berlin, Germany"));
    let degrees = site("-1.3, 36.8").unwrap();
    assert_eq!(
        (degrees.name(), degrees.to_string()),
        (None, "-1.3,36.8".into())
    );
    let message = |text: &str| site(text).unwrap_err().to_string();
    assert!(message("91,0").contains("latitude 91"));
    assert!(message("12").contains("expected LATITUDE,LONGITUDE"));
    assert!(message("Berlln").contains("did you mean `Berlin, Germany`"));
}

/// What a message offers can be typed.
#[test]
fn nearly_every_place_is_found_by_what_it_is_called() {
    let cities = Gazetteer::get().cities();
    let full = |city: &City| format!("{city}, {}", city.country);
    let lost: Vec<String> = cities
        .iter()
        .filter(|city| find(&full(city)).as_ref() != Ok(*city))
        .map(full)
        .collect();
    // A handful of places share name, region and country in the original.
    assert!(lost.len() <= 12, "{}: {lost:?}", lost.len());
}

#[test]
fn a_beginning_is_completed_with_texts_that_mean_the_place() {
    let texts = |text: &str| -> Vec<String> {
        let found = crate::complete(text, 5);
        for (typed, city) in &found {
            assert_eq!(find(typed).unwrap(), *city, "{typed}");
        }
        found.into_iter().map(|(typed, _)| typed).collect()
    };
    assert_eq!(texts("new yo")[0], "New York, New York");
    assert_eq!(texts("portland, o"), ["Portland, Oregon"]);
    assert_eq!(texts("SAO PAU")[0].split(',').next(), Some("Sao Paulo"));
    assert!(texts("").is_empty());
    assert!(texts("qqqq").is_empty());
}

#[test]
fn the_largest_place_near_a_point_is_found() {
    let near = |latitude, longitude, km| {
        let place = crate::Place::new(latitude, longitude).unwrap();
        crate::near(place, crate::Distance::from_km(km)).map(|(_, city)| city.name)
    };
    assert_eq!(near(48.0, 11.0, 100.0), Some("Munich"));
    assert_eq!(near(30.05, 31.24, 50.0), Some("Cairo"));
    assert_eq!(near(-40.0, -120.0, 300.0), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_found_or_refused(text in "\\PC{0,40}") {
        if let Err(why) = find(&text) {
            prop_assert!(!why.to_string().is_empty());
        }
        let _ = text.parse::<Site>();
    }

    /// Case, accents and hyphens never matter.
    #[test]
    fn a_name_survives_how_it_is_typed(index in 0usize..7000, upper in any::<bool>()) {
        let cities = Gazetteer::get().cities();
        let city = cities[index % cities.len()];
        let typed = match upper {
            true => city.name.to_uppercase(),
            false => city.name.replace('-', " "),
        };
        prop_assert_eq!(folded(&typed), folded(city.name));
        match find(&typed) {
            Ok(_) | Err(LookupError::Ambiguous { .. }) => {}
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}
