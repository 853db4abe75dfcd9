//! Plays an RTSP stream with retina and counts the frames it gets: `retina-client URL tcp|udp SECONDS`.
//!
//! Prints one JSON line. Any error of the library ends the program with status 1: it refuses responses, packets and timestamps that
//! other clients accept.

use futures::StreamExt;
use retina::client::{PlayOptions, Session, SessionOptions, SetupOptions, Transport};
use retina::codec::CodecItem;
use std::time::Duration;

const WAIT_MAX: Duration = Duration::from_secs(40);

async fn play(url: &str, transport: &str, seconds: f64) -> Result<String, Box<dyn std::error::Error>> {
    let mut session = Session::describe(url::Url::parse(url)?, SessionOptions::default()).await?;
    let tracks = session.streams().len();
    for track in 0..tracks {
        let way = if transport == "udp" { Transport::Udp(Default::default()) } else { Transport::Tcp(Default::default()) };
        session.setup(track, SetupOptions::default().transport(way)).await?;
    }
    let mut media = session.play(PlayOptions::default()).await?.demuxed()?;
    let names: Vec<String> = media.streams().iter().map(|one| format!("\"{}\"", one.encoding_name())).collect();
    let (mut frames, mut lost, mut reports) = (vec![0u64; tracks], 0u64, 0u64);
    let mut first_is_key = None;
    let mut elapsed = 0f64;
    while elapsed < seconds {
        match media.next().await.ok_or("the stream has ended")?? {
            CodecItem::VideoFrame(frame) => {
                first_is_key.get_or_insert(frame.is_random_access_point());
                frames[frame.stream_id()] += 1;
                lost += u64::from(frame.loss());
                elapsed = elapsed.max(frame.timestamp().elapsed_secs());
            }
            CodecItem::AudioFrame(frame) => {
                frames[frame.stream_id()] += 1;
                lost += u64::from(frame.loss());
            }
            CodecItem::Rtcp(_) => reports += 1,
            _ => {}
        }
    }
    let counts: Vec<String> = frames.iter().map(u64::to_string).collect();
    Ok(format!(
        "{{\"codecs\": [{}], \"frames\": [{}], \"lost\": {lost}, \"reports\": {reports}, \"first_is_key\": {}}}",
        names.join(", "),
        counts.join(", "),
        first_is_key.unwrap_or(false)
    ))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().collect();
    let seconds = words[3].parse().expect("seconds");
    match tokio::time::timeout(WAIT_MAX, play(&words[1], &words[2], seconds)).await {
        Ok(Ok(summary)) => println!("{summary}"),
        Ok(Err(error)) => fail(&error.to_string()),
        Err(_) => fail("it takes too long"),
    }
}

fn fail(reason: &str) {
    eprintln!("{reason}");
    std::process::exit(1);
}
