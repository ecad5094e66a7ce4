use super::*;
use std::path::Path;

fn given(options: &[(&str, &str)]) -> Vec<(String, String)> {
    let options = options.iter();
    options
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// What the command, Python and the page say of options that ask nothing.
fn refused(options: &[(&str, &str)]) -> [String; 3] {
    let error = Question::read(options).unwrap_err();
    [for_command(&error), for_python(&error), for_page(&error)]
}

#[test]
fn each_door_calls_options_by_its_names() {
    for (options, command, python, page) in [
        (
            &[("user", "3")][..],
            "there is no option `user`; did you mean `users`?",
            "there is no option `user`; did you mean `users`?",
            "there is no option `user`; did you mean `users`?",
        ),
        (
            &[("return-rate", "5")],
            "invalid value '5' for '--return-rate': `5` has no unit",
            "invalid value '5' for 'return_rate': `5` has no unit",
            "`5` has no unit",
        ),
        (
            &[("users", "5000")],
            "invalid value '5000' for '--users': expected a whole number from 1 to 1000",
            "invalid value '5000' for 'users': expected a whole number from 1 to 1000",
            "expected a whole number from 1 to 1000",
        ),
        (
            &[("traffic", "vidoe")],
            "invalid value 'vidoe' for '--traffic': expected download, web, video, mixed or a mix",
            "invalid value 'vidoe' for 'traffic': expected download, web, video, mixed or a mix",
            "expected download, web, video, mixed or a mix, such as",
        ),
        (
            &[("orbit", "geo")],
            "--from must be set for --orbit, and so must --to",
            "from_ must be set for orbit, and so must to",
            "must be set for orbit, and so must to",
        ),
        (
            &[
                ("orbit", "geo"),
                ("from", "Oslo"),
                ("to", "Rome"),
                ("rtt", "1 s"),
            ],
            "--rtt is not for an orbit, which has its own",
            "rtt is not for an orbit, which has its own",
            "is not for an orbit, which has its own",
        ),
        (
            &[("over", "1 h")],
            "--over needs an orbit or a trace: nothing else changes over time",
            "over needs an orbit or a trace: nothing else changes over time",
            "needs an orbit or a trace: nothing else changes over time",
        ),
    ] {
        let found = refused(options);
        for (found, says) in found.iter().zip([command, python, page]) {
            assert!(found.starts_with(says), "{found}");
        }
    }
}

#[test]
fn a_question_can_be_typed_and_called() {
    let options = given(&[
        ("rate", "50Mbit/s"),
        ("users", "20"),
        ("loss", "5% in bursts of 8 packets"),
        ("pep", "none,split"),
        ("from", "-33.9,18.4"),
    ]);
    assert_eq!(
        command(&options),
        "bentpipe compare --rate 50Mbit/s --users 20 --loss '5% in bursts of 8 packets' \
         --pep none,split --from=-33.9,18.4"
    );
    let program = python(&options);
    for line in [
        "    rate=\"50Mbit/s\",",
        "    users=20,",
        "    pep=[\"none\", \"split\"],",
        "    from_=\"-33.9,18.4\",",
    ] {
        assert!(program.lines().any(|found| found == line), "{program}");
    }
    assert!(python(&[]).contains("bentpipe.compare()"));
}

#[test]
fn fields_have_what_a_form_needs() {
    let fields = fields();
    let of = |name: &str| {
        let all = fields.as_array().unwrap().iter();
        all.clone().find(|field| field["name"] == name).unwrap()
    };
    assert_eq!(of("rate")["kind"], "rate");
    assert_eq!(of("rate")["slider"], json!([1e4, 1e9]));
    assert_eq!(of("users")["group"], "users");
    assert_eq!(
        (&of("traffic")["default"], &of("rtt")["default"]),
        (&json!("download"), &Value::Null)
    );
    let values = |name: &str| -> Vec<&str> {
        let choices = of(name)["choices"].as_array().unwrap().iter();
        choices
            .map(|choice| choice["value"].as_str().unwrap())
            .collect()
    };
    assert_eq!(values("traffic"), ["download", "web", "video", "mixed"]);
    assert_eq!(values("orbit")[0], "geo");
    assert!(values("transport").contains(&"bbr"));
}

#[test]
fn generated_files_are_those_of_the_declaration() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (file, text) in [
        ("python/bentpipe/_keywords.py", keywords()),
        ("crates/explore/web/src/lib/options.ts", typescript()),
    ] {
        let file = root.join(file);
        if std::env::var("BENTPIPE_GENERATE").is_ok_and(|how| how == "write") {
            std::fs::write(&file, &text).unwrap();
        }
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            written == text,
            "{}: set BENTPIPE_GENERATE=write",
            file.display()
        );
    }
}
