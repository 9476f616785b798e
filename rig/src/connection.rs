//! One connection, on which one command is answered before the next is sent.

use std::{
    io::{self, BufReader, Write},
    net::{Ipv4Addr, TcpStream},
    time::Duration,
};

use crate::reply::Reply;

/// Sends a command over a connection of its own and reads the answer, each read no longer than `patience`.
pub(crate) fn ask(port: u16, command: &[&[u8]], patience: Duration) -> io::Result<Reply> {
    Connection::open(port, patience)?.ask(command)
}

#[derive(Debug)]
pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub(crate) fn open(port: u16, patience: Duration) -> io::Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(patience))?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    pub(crate) fn ask(&mut self, command: &[&[u8]]) -> io::Result<Reply> {
        self.0.get_mut().write_all(&encode(command))?;
        Reply::read(&mut self.0)
    }
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
