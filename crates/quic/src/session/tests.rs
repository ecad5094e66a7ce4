use super::*;
use proptest::prelude::*;

fn session(side: Side) -> Plain {
    let defaults = TransportParameters::read(Side::Server, &mut &[][..]).unwrap();
    Plain::new(side, Config::default(), &defaults)
}

#[test]
fn two_sides_come_to_an_end() {
    let (mut client, mut server) = (session(Side::Client), session(Side::Server));
    let mut buf = Vec::new();
    assert!(client.write_handshake(&mut buf).is_none());
    assert!(buf.len() >= CLIENT_HELLO);
    // In two parts, as the network may bring it.
    let (first, second) = buf.split_at(100);
    server.read_handshake(first).unwrap();
    server.read_handshake(second).unwrap();
    assert!(server.transport_parameters().unwrap().is_some());
    let (mut hello, mut rest) = (Vec::new(), Vec::new());
    assert!(server.write_handshake(&mut hello).is_some());
    assert_eq!(hello.len(), SERVER_HELLO);
    assert!(server.write_handshake(&mut rest).is_some());
    client.read_handshake(&hello).unwrap();
    assert!(client.write_handshake(&mut Vec::new()).is_some());
    assert!(client.is_handshaking());
    client.read_handshake(&rest).unwrap();
    assert!(!client.is_handshaking());
    let mut finished = Vec::new();
    assert!(client.write_handshake(&mut finished).is_some());
    assert_eq!(finished.len(), FINISHED);
    server.read_handshake(&finished).unwrap();
    assert!(!server.is_handshaking());
}

proptest! {
    /// What is no handshake is an error or waits for more; nothing panics.
    #[test]
    fn any_bytes_are_taken(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for side in [Side::Client, Side::Server] {
            let mut session = session(side);
            let _ = session.read_handshake(&bytes);
            let _ = session.transport_parameters();
            let _ = session.write_handshake(&mut Vec::new());
        }
    }
}
