//! Everything arrives, however it is read.

use super::*;

#[tokio::test]
async fn a_hundred_megabytes_arrive_whole_and_end_orderly() {
    let mut relayed = relayed().await;
    let data = pattern(100_000_000);
    let sent = digest(&data);
    let server = tokio::spawn(async move {
        relayed.server.write_all(&data).await.unwrap();
        // The server closes first.
    });
    let (received, length) = read_digest(&mut relayed.client).await.unwrap();
    server.await.unwrap();
    drop(relayed.client);
    assert_eq!(length, 100_000_000);
    assert_eq!(received.as_ref(), sent.as_ref());
    let closed = ended(relayed.relay).await;
    assert_eq!((closed.up, closed.down, closed.cut), (0, 100_000_000, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_directions_carry_at_the_same_time() {
    let relayed = relayed().await;
    let data = pattern(20_000_000);
    let sent = digest(&data);
    let mut tasks = Vec::new();
    for tcp in [relayed.client, relayed.server] {
        let data = data.clone();
        tasks.push(tokio::spawn(async move {
            let (mut read, mut write) = tcp.into_split();
            let writer = tokio::spawn(async move {
                write.write_all(&data).await.unwrap();
                // Dropping this half sends FIN.
            });
            let mut bytes = Vec::new();
            read.read_to_end(&mut bytes).await.unwrap();
            writer.await.unwrap();
            digest(&bytes)
        }));
    }
    for task in tasks {
        assert_eq!(task.await.unwrap().as_ref(), sent.as_ref());
    }
    assert_eq!(ended(relayed.relay).await.cut, None);
}

#[tokio::test]
async fn without_a_pipe_bytes_are_copied() {
    let mut relayed = relayed_with(Pipes::new(0, 0), Timeouts::default()).await;
    let data = pattern(20_000_000);
    let sent = digest(&data);
    tokio::spawn(async move { relayed.server.write_all(&data).await.unwrap() });
    let (received, _) = read_digest(&mut relayed.client).await.unwrap();
    assert_eq!(received.as_ref(), sent.as_ref());
    drop(relayed.client);
    assert_eq!(ended(relayed.relay).await.cut, None);
}

#[tokio::test]
async fn a_slow_reader_receives_everything() {
    for pipes in [16, 0] {
        let timeouts = Timeouts::default();
        let mut relayed = relayed_with(Pipes::new(pipes, 1 << 20), timeouts).await;
        let data = pattern(12_000_000);
        let sent = digest(&data);
        let server = tokio::spawn(async move { relayed.server.write_all(&data).await.unwrap() });
        // Every buffer on the way fills before the first read.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let mut context = Context::new(&SHA256);
        let mut buffer = vec![0; 50_000];
        loop {
            let got = relayed.client.read(&mut buffer).await.unwrap();
            if got == 0 {
                break;
            }
            context.update(&buffer[..got]);
            tokio::time::sleep(Duration::from_micros(500)).await;
        }
        server.await.unwrap();
        assert_eq!(context.finish().as_ref(), sent.as_ref());
        drop(relayed.client);
        assert_eq!(ended(relayed.relay).await.cut, None);
    }
}

#[tokio::test]
async fn one_byte_and_no_byte_arrive() {
    for bytes in [&b""[..], b"x"] {
        let mut relayed = relayed().await;
        relayed.client.write_all(bytes).await.unwrap();
        relayed.client.shutdown().await.unwrap();
        assert_eq!(read_out(&mut relayed.server).await, (bytes.to_vec(), false));
        relayed.server.write_all(bytes).await.unwrap();
        drop(relayed.server);
        assert_eq!(read_out(&mut relayed.client).await, (bytes.to_vec(), false));
        let closed = ended(relayed.relay).await;
        let length = bytes.len() as u64;
        assert_eq!((closed.up, closed.down, closed.cut), (length, length, None));
    }
}

/// A byte of urgent data (telnet's interrupt) among others, in bulk and in few bytes,
/// with the end right behind it and without.
#[tokio::test]
async fn urgent_data_stays_at_its_place() {
    for length in [10, 10_000_000] {
        let Relayed {
            client,
            mut server,
            relay,
        } = relayed().await;
        socket2::SockRef::from(&server)
            .set_out_of_band_inline(true)
            .unwrap();
        let bytes = pattern(length);
        let mut expected = Vec::new();
        for _ in 0..3 {
            expected.extend_from_slice(&bytes);
            expected.push(b'!');
        }
        expected.extend_from_slice(&bytes);
        let (mut read, mut write) = client.into_split();
        let sending = tokio::spawn(async move {
            for _ in 0..3 {
                write.write_all(&bytes).await.unwrap();
                write.writable().await.unwrap();
                let socket = socket2::SockRef::from(write.as_ref());
                while socket.send_out_of_band(b"!").is_err() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
            write.write_all(&bytes).await.unwrap();
            write
        });
        let mut got = vec![0; expected.len()];
        // Everything arrives although nothing follows it.
        let whole = server.read_exact(&mut got);
        let arrived = tokio::time::timeout(Duration::from_secs(20), whole).await;
        assert!(arrived.is_ok(), "{length}");
        assert!(got == expected, "{length}");
        drop(sending.await.unwrap());
        assert_eq!(read_out(&mut server).await, (Vec::new(), false));
        drop(server);
        assert_eq!(read.read(&mut [0]).await.unwrap(), 0);
        assert_eq!(ended(relay).await.cut, None);
    }
}

#[tokio::test]
async fn many_connections_share_few_pipes() {
    let pipes: &Pipes = Box::leak(Box::new(Pipes::new(2, 64 << 10)));
    let mut tasks = Vec::new();
    for _ in 0..32 {
        let relayed = relayed_with(Pipes::new(0, 0), Timeouts::default()).await;
        // The relay under test goes on from the server's side of the first.
        let front = TcpListener::bind("127.0.0.1:0").await.unwrap();
        guard(&front).unwrap();
        let to = front.local_addr().unwrap();
        let (second, arrived) = tokio::join!(TcpStream::connect(to), front.accept());
        let arrived = arrived.unwrap().0;
        guard(&relayed.server).unwrap();
        let server = relayed.server;
        tokio::spawn(async move {
            let meter = Meter::default();
            splice(arrived, server, pipes, &Timeouts::default(), &meter).await
        });
        let (mut client, mut far) = (relayed.client, second.unwrap());
        tasks.push(tokio::spawn(async move {
            let data = pattern(1_000_000);
            let sent = digest(&data);
            let write = tokio::spawn(async move {
                far.write_all(&data).await.unwrap();
                far.shutdown().await.unwrap();
                far
            });
            let (received, _) = read_digest(&mut client).await.unwrap();
            assert_eq!(received.as_ref(), sent.as_ref());
            drop(write.await.unwrap());
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
}
