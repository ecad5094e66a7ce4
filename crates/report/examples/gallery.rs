//! Writes one figure of each kind, as SVG and PNG, and a page with all of them.
//!
//! ```text
//! cargo run -p bentpipe-report --example gallery -- target/gallery
//! ```

use std::error::Error;
use std::f64::consts::PI;
use std::fs;
use std::path::PathBuf;

use bentpipe_report::html::Page;
use bentpipe_report::plot::{Annotation, Axis, BarSeries, Chart, Legend, Panel, Series};
use bentpipe_report::png;
use bentpipe_report::table::{self, Cell, Column, Table, Tone};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(
        std::env::args()
            .nth(1)
            .ok_or("usage: gallery <directory>")?,
    );
    fs::create_dir_all(&directory)?;
    let mut page = Page::new("bentpipe gallery")
        .paragraph("One figure of each kind; the data are invented, see `examples/gallery.rs`.")
        .table(&sample_table());
    for (name, chart) in charts() {
        let svg = chart.to_svg();
        fs::write(directory.join(format!("{name}.svg")), &svg)?;
        fs::write(
            directory.join(format!("{name}.png")),
            png::render(&svg, 2.0)?,
        )?;
        page = page.heading(name).figure(&svg, &chart.subtitle);
    }
    fs::write(directory.join("index.html"), page.to_html())?;
    fs::write(directory.join("table.txt"), sample_table().to_text(false))?;
    Ok(())
}

fn charts() -> Vec<(&'static str, Chart)> {
    vec![
        ("compare", compare()),
        ("sweep", sweep()),
        ("log-log", log_log()),
        ("grouped-bars", grouped_bars()),
        ("negative-bars", negative_bars()),
        ("many-categories", many_categories()),
        ("many-series", many_series()),
        ("step-band", step_band()),
        ("scatter", scatter()),
        ("long-series", long_series()),
        ("large-numbers", large_numbers()),
        ("no-data", no_data()),
    ]
}

/// A repeatable stand-in for noise, between 0 and 1.
fn noise(i: usize, stream: u64) -> f64 {
    let mut x = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ stream.wrapping_mul(0xD134_2543_DE82_EF95);
    x ^= x >> 31;
    x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^= x >> 29;
    (x >> 11) as f64 / (1u64 << 53) as f64
}

/// A window that grows by `slope` and is halved every `period` seconds.
fn sawtooth(top: f64, slope: f64, period: f64, start: f64) -> Vec<(f64, f64)> {
    let mut window = 2.0_f64;
    (0..600)
        .map(|i| {
            let t = f64::from(i) / 10.0;
            if t > start && ((t - start) / period).fract() < 0.1 / period {
                window /= 2.0;
            } else if t < start {
                window = (window * 1.06).min(top);
            } else {
                window += slope * 0.1;
            }
            (t, window)
        })
        .collect()
}

fn compare() -> Chart {
    let names = ["newreno", "westwood+", "hybla", "mtsi"];
    let shapes = [
        (60.0, 1.2, 21.0, 15.0),
        (80.0, 1.5, 17.0, 13.0),
        (170.0, 5.5, 14.0, 9.0),
        (185.0, 7.0, 12.0, 6.0),
    ];
    let x = || Axis::linear("time [s]");
    let mut cwnd = Panel::xy(x(), Axis::linear("cwnd [segments]"));
    let mut rate = Panel::xy(x(), Axis::linear("rate [Mbit/s]"));
    let mut received = Panel::xy(x(), Axis::linear("received [MB]"));
    for (name, (top, slope, period, start)) in names.into_iter().zip(shapes) {
        let window = sawtooth(top, slope, period, start);
        let bits: Vec<_> = window
            .iter()
            .map(|(t, w)| (*t, (w * 1500.0 * 8.0 / 0.56 / 1e6).min(4.0)))
            .collect();
        let mut sum = 0.0;
        let bytes: Vec<_> = bits
            .iter()
            .map(|(t, r)| {
                sum += r * 0.1 / 8.0;
                (*t, sum)
            })
            .collect();
        cwnd = cwnd.series(Series::line(name, window));
        rate = rate.series(Series::step(name, bits));
        received = received.series(Series::line(name, bytes));
    }
    let rate = rate.annotate(Annotation::horizontal(4.0, "capacity"));
    let cwnd = cwnd
        .annotate(Annotation::vertical(20.0, "rain fade"))
        .annotate(Annotation::vertical(23.5, "rain fade ends"));
    Chart::new("One 20 MB transfer over a geostationary link")
        .subtitle("4 Mbit/s, 560 ms round trip, drop-tail queue of one bandwidth-delay product, packet error rate 10⁻⁴, seed 1")
        .panel(cwnd)
        .panel(rate)
        .panel(received)
}

fn sweep() -> Chart {
    let losses = [1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2];
    let mut panel = Panel::xy(
        Axis::log("packet error rate"),
        Axis::linear("goodput [Mbit/s]"),
    )
    .annotate(Annotation::horizontal(2.0, "link rate"));
    for (stream, (name, knee)) in [("newreno", 4e-5_f64), ("westwood+", 2e-4), ("hybla", 8e-4)]
        .into_iter()
        .enumerate()
    {
        let points: Vec<_> = losses
            .iter()
            .map(|p| (*p, 1.9 / (1.0 + (p / knee).sqrt())))
            .collect();
        let spread: Vec<_> = points
            .iter()
            .enumerate()
            .map(|(i, (_, y))| {
                let d = 0.02 + 0.09 * noise(i, stream as u64);
                (y - d, y + d)
            })
            .collect();
        let printed: Vec<_> = points
            .iter()
            .enumerate()
            .filter(|(i, _)| i % 2 == 0)
            .map(|(i, (x, y))| {
                (
                    *x,
                    (y + 0.3 * (noise(i, 9 + stream as u64) - 0.5)).max(0.03),
                )
            })
            .collect();
        panel = panel.series(
            Series::line_points(name, points)
                .whiskers(spread)
                .reference(printed),
        );
    }
    Chart::new("Goodput against packet error rate")
        .subtitle("2 Mbit/s, 500 ms round trip; mean of 20 runs")
        .reference_label("printed in the paper")
        .spread_label("95 % confidence")
        .panel(panel)
}

fn log_log() -> Chart {
    let mut panel = Panel::xy(
        Axis::log("transfer size [kB]"),
        Axis::log("completion time [s]"),
    );
    for (name, rtts) in [("IW 2", 1.6), ("IW 10", 0.9), ("mtsi", 0.55)] {
        let points = (0..12).map(|i| {
            let size = 2.0 * f64::from(1 << i);
            (
                size,
                rtts * (0.5 + 0.25 * f64::from(i)) + size * 8.0 / 2000.0,
            )
        });
        panel = panel.series(Series::line_points(name, points));
    }
    Chart::new("Completion time of short transfers")
        .subtitle("both axes logarithmic")
        .legend(Legend::Right)
        .panel(panel)
}

fn grouped_bars() -> Chart {
    let categories = [
        "100 kbyte 500 kbit/s",
        "1 Mbyte 500 kbit/s",
        "100 kbyte 2 Mbit/s",
        "1 Mbyte 2 Mbit/s",
        "10 Mbyte 2 Mbit/s",
    ];
    let mut panel = Panel::bars(
        "size of the transfer and rate of the link",
        Axis::linear("throughput [kbit/s]"),
        categories,
    );
    let full = [210.0, 380.0, 260.0, 900.0, 1600.0];
    for (k, (name, share)) in [
        ("newreno", 0.55),
        ("IW 6", 0.7),
        ("spoofing", 0.85),
        ("mtsi", 1.0),
    ]
    .into_iter()
    .enumerate()
    {
        let values: Vec<f64> = full.iter().map(|v| v * share).collect();
        let limits: Vec<_> = values
            .iter()
            .enumerate()
            .map(|(i, v)| {
                (
                    v * (0.98 - 0.04 * noise(i, k as u64)),
                    v * (1.02 + 0.04 * noise(i, k as u64)),
                )
            })
            .collect();
        let printed: Vec<_> = values
            .iter()
            .enumerate()
            .map(|(i, v)| v * (0.85 + 0.3 * noise(i, 5 + k as u64)))
            .collect();
        panel = panel.bar_series(
            BarSeries::new(name, values)
                .whiskers(limits)
                .reference(printed),
        );
    }
    Chart::new("Throughput of four transports")
        .subtitle("bars: simulated; outlines: as read from the figure of the paper")
        .spread_label("lowest and highest of 10 runs")
        .note("The paper gives no confidence intervals. Where outline and bar differ by more than the whiskers, the cell is listed in the study's report with the likely reason.")
        .panel(panel)
}

fn negative_bars() -> Chart {
    let panel = Panel::bars(
        "",
        Axis::linear("gain over newreno [%]"),
        ["GEO", "MEO", "LEO", "LEO, handovers"],
    )
    .bar_series(BarSeries::new("cubic", [12.0, 8.0, 1.5, -6.0]))
    .bar_series(BarSeries::new("hybla", [64.0, 22.0, -3.0, -11.0]))
    .bar_series(BarSeries::new("bbr", [71.0, f64::NAN, 4.0, -18.0]));
    Chart::new("Gains and losses").width(560.0).panel(panel)
}

fn many_categories() -> Chart {
    let categories = (1..=18).map(|i| format!("Reykjavík – Johannesburg, hour {i}"));
    let panel = Panel::bars(
        "pair of ground stations",
        Axis::linear("round-trip time [ms]"),
        categories,
    )
    .bar_series(BarSeries::new(
        "Iridium",
        (0..18).map(|i| 130.0 + 40.0 * noise(i, 1)),
    ))
    .bar_series(BarSeries::new(
        "Teledesic",
        (0..18).map(|i| 95.0 + 25.0 * noise(i, 2)),
    ));
    Chart::new("Round-trip times over two constellations").panel(panel)
}

fn many_series() -> Chart {
    let mut panel = Panel::xy(Axis::linear("time [s]"), Axis::linear("rate [Mbit/s]"));
    for k in 0..18_u32 {
        let top = 1.0 + 0.5 * f64::from(k);
        let points = (0..=120).map(|i| {
            let t = f64::from(i) / 2.0;
            (t, top * t / (t + 2.0 + 0.6 * f64::from(k)))
        });
        panel = panel.series(Series::line(format!("transport {}", k + 1), points));
    }
    Chart::new("Eighteen transports: colours repeat, dashes do not").panel(panel)
}

fn step_band() -> Chart {
    let hours: Vec<f64> = (0..=48).map(|i| f64::from(i) / 2.0).collect();
    let level = |h: f64, stream| {
        400.0 + 300.0 * triangle(h / 24.0) + 60.0 * noise((h * 2.0) as usize, stream)
    };
    let mut panel = Panel::xy(
        Axis::linear("local time [h]").range(0.0, 24.0),
        Axis::linear("queue [packets]"),
    )
    .annotate(Annotation::horizontal(700.0, "buffer"))
    .annotate(Annotation::horizontal(690.0, "RED maximum"));
    for (stream, name) in ["drop-tail", "CoDel"].into_iter().enumerate() {
        let scale = if stream == 0 { 1.0 } else { 0.35 };
        let points: Vec<_> = hours
            .iter()
            .map(|h| {
                (
                    *h,
                    if stream == 1 && (9.0..11.0).contains(h) {
                        f64::NAN
                    } else {
                        scale * level(*h, stream as u64)
                    },
                )
            })
            .collect();
        let band: Vec<_> = points.iter().map(|(_, y)| (0.8 * y, 1.15 * y)).collect();
        panel = panel.series(Series::step(name, points).band(band));
    }
    Chart::new("Queue over a day")
        .spread_label("5th to 95th percentile")
        .panel(panel)
}

fn triangle(x: f64) -> f64 {
    1.0 - (2.0 * x.fract() - 1.0).abs()
}

fn scatter() -> Chart {
    let cloud = |stream: u64, delay: f64| {
        (0..1500).map(move |i| {
            let radius = noise(i, stream) * noise(i, stream + 1);
            let angle = 2.0 * PI * noise(i, stream + 2);
            // A rough circle is enough here: no trigonometry in this workspace.
            let (a, b) = (
                triangle(angle / (2.0 * PI)) - 0.5,
                triangle(angle / (2.0 * PI) + 0.25) - 0.5,
            );
            (delay * (1.0 + 0.4 * radius * a), 3.0 + 2.0 * radius * b)
        })
    };
    let panel = Panel::xy(
        Axis::linear("round-trip time [ms]"),
        Axis::linear("delivery rate [Mbit/s]"),
    )
    .series(Series::points("GEO", cloud(1, 560.0)))
    .series(Series::points("MEO", cloud(11, 300.0)))
    .series(Series::points("median", [(560.0, 3.0), (300.0, 3.0)]));
    Chart::new("Samples of one run").width(520.0).panel(panel)
}

fn long_series() -> Chart {
    let points: Vec<_> = (0..100_000)
        .map(|i| {
            let t = i as f64 / 100.0;
            let burst = if i == 61_803 { 45.0 } else { 0.0 };
            (t, 560.0 + 12.0 * noise(i, 3) * triangle(t / 250.0) + burst)
        })
        .collect();
    let panel = Panel::xy(
        Axis::linear("time [s]"),
        Axis::linear("round-trip time [ms]"),
    )
    .series(Series::line("smoothed RTT", points));
    Chart::new("100 000 points; the one burst stays visible").panel(panel)
}

fn large_numbers() -> Chart {
    let x = || Axis::linear("time [s]");
    let bytes = (0..=100).map(|i| (f64::from(i), 2.5e5 * f64::from(i)));
    let error = (0..=100).map(|i| (f64::from(i), 3e-7 * noise(i as usize, 4)));
    let zoomed = (0..=100).map(|i| (f64::from(i), 511.0 + 0.02 * noise(i as usize, 5)));
    Chart::new("Large, small and close numbers")
        .panel(
            Panel::xy(x(), Axis::linear("sequence number [bytes]"))
                .title("sequence")
                .series(Series::line("flow 1", bytes)),
        )
        .panel(
            Panel::xy(x(), Axis::linear("error"))
                .title("error of the clock")
                .series(Series::line("flow 1", error)),
        )
        .panel(
            Panel::xy(x(), Axis::linear("one-way delay [ms]"))
                .title("delay")
                .series(Series::line("flow 1", zoomed)),
        )
}

fn no_data() -> Chart {
    Chart::new("A run that yielded nothing")
        .panel(
            Panel::xy(Axis::linear("time [s]"), Axis::linear("cwnd [segments]"))
                .series(Series::line("newreno", [(f64::NAN, 1.0)])),
        )
        .panel(
            Panel::xy(Axis::linear("time [s]"), Axis::log("rate [Mbit/s]"))
                .series(Series::line("newreno", [(1.0, -1.0)])),
        )
}

fn sample_table() -> Table {
    let mut table = Table::new([
        Column::text("transport"),
        Column::number("size [kB]"),
        Column::number("time [s]"),
        Column::number("paper [s]"),
        Column::number("difference"),
        Column::text(""),
    ])
    .title("Completion times over a geostationary link")
    .note("Mean of 20 runs.");
    for (name, size, time, paper) in [
        ("newreno", 100.0, 5.93, 6.1),
        ("hybla", 100.0, 3.41, 3.4),
        ("mtsi", 100.0, 2.72, 2.2),
        ("newreno", 1000.0, 21.4, 21.0),
    ] {
        let difference = 100.0 * (time / paper - 1.0_f64);
        let tone = if difference.abs() < 5.0 {
            Tone::Good
        } else {
            Tone::Bad
        };
        table.row([
            Cell::new(name),
            Cell::new(format!("{size}")),
            Cell::new(format!("{time:.2}")),
            Cell::new(format!("{paper:.2}")),
            Cell::new(format!("{difference:+.1} %")).tone(tone),
            Cell::new(table::bar(time, 21.4, 12, table::BarStyle::Unicode)),
        ]);
    }
    table
}
