//! Constant-quality video over a link that is fast enough, and over one that
//! is not.

use crate::line::{Line, sack};
use bentpipe_outcome::{FlowOutcome, VideoOutcome};
use bentpipe_sim::{Options, run};
use bentpipe_traffic::{Application, VideoSettings};
use bentpipe_units::{Bytes, Duration, Rate};

/// A minute of video over 2 Mbit/s, RTT 511 ms.
fn watched(bitrate: Rate) -> (FlowOutcome, VideoOutcome) {
    let video = VideoSettings {
        segment: Duration::from_secs(4),
        bitrate,
        startup: Duration::from_secs(8),
        buffer: Duration::from_secs(20),
        length: Duration::from_secs(60),
        request: Bytes::new(300),
        control: None,
    };
    let line = Line::geo().with(Application::Video(video), Some(sack()));
    let outcome = run(&line.scenario(), &Options::default());
    let flow = outcome.unwrap().flows.remove(0);
    let video = flow.video.unwrap();
    (flow, video)
}

#[test]
fn a_fast_link_shows_the_video_without_a_stall() {
    let (flow, video) = watched(Rate::from_bps(500_000));
    assert_eq!((video.segments, video.stalls), (15, 0));
    assert_eq!(video.stall_time, Duration::ZERO);
    // 15 segments of 250 kB.
    assert_eq!(flow.delivered, Bytes::new(3_750_000));
    let startup = video.startup_delay.unwrap();
    assert!(startup < Duration::from_secs(8), "{startup}");
    // The buffer is full well before the end: the last segment waits for room.
    let time = flow.transfer_time.unwrap();
    assert!(time > Duration::from_secs(30), "{time}");
}

/// 60 s of 2.5 Mbit/s take 75 s at 2 Mbit/s, headers not counted.
#[test]
fn a_slow_link_stalls_for_what_it_lacks() {
    let (_, video) = watched(Rate::from_bps(2_500_000));
    assert_eq!(video.segments, 15);
    assert!(video.stalls >= 1, "{video:?}");
    let missing = video.startup_delay.unwrap() + video.stall_time;
    assert!(missing > Duration::from_secs(15), "{video:?}");
}
