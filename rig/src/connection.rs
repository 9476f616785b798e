//! One command over a connection of its own.

use std::{
    io::{self, BufReader, Write},
    net::{Ipv4Addr, TcpStream},
    time::Duration,
};

use crate::reply::Reply;

/// Sends a command and reads the answer, each read no longer than `patience`.
pub(crate) fn ask(port: u16, command: &[&[u8]], patience: Duration) -> io::Result<Reply> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(patience))?;
    stream.write_all(&encode(command))?;
    Reply::read(&mut BufReader::new(stream))
}

fn encode(command: &[&[u8]]) -> Vec<u8> {
    let mut wire = format!("*{}\r\n", command.len()).into_bytes();
    for word in command {
        wire.extend(format!("${}\r\n", word.len()).bytes());
        wire.extend_from_slice(word);
        wire.extend(b"\r\n");
    }
    wire
}
