//! What Redis is asked, as commands on the wire.

use std::time::Duration;

use redis::{Cmd, Value, cmd};

use super::{
    courier::Courier,
    reply::{Reply, Trouble},
    script::Script,
};

/// One question, whose keys lie in one slot.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Request<'a> {
    /// The remaining life of a key in ms, then its value.
    Read(&'a str),
    /// Whether a key could be set to a token for `life` ms, its remaining life in ms and, if the token is to be
    /// recognised, its value.
    Claim { key: &'a str, token: &'a str, life: u64, recognise: bool },
    /// What a script answers.
    Run { script: &'a Script, keys: &'a [String], arguments: &'a [&'a [u8]] },
    /// What a script answers, then how many replicas have what it wrote.
    Confirmed { script: &'a Script, keys: &'a [String], arguments: &'a [&'a [u8]], confirm: Confirm },
    /// How many heard a message, on this node.
    Publish { channel: &'a str, message: &'a [u8] },
    /// The next cursor and some keys of one node.
    Scan { cursor: u64, pattern: &'a str },
    /// What each of these commands answers, be it an error: for what only an operator wants to know.
    Look { commands: &'a [Words] },
}

/// A command, spelled out.
pub(crate) type Words = Vec<String>;

/// Spells out a command.
pub(crate) fn words(command: &[&str]) -> Words {
    command.iter().map(|word| (*word).to_owned()).collect()
}

/// For how many replicas to wait, and for how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Confirm {
    pub(crate) replicas: u32,
    pub(crate) within: Duration,
}

/// In what capacity a node is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It has the slot.
    Owner,
    /// It is being given the slot, and has this key already.
    Heir,
}

/// How a script is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Hash,
    Text,
}

impl Request<'_> {
    /// The key that says which node to ask; any will do without.
    pub(super) fn key(&self) -> Option<&str> {
        match self {
            Self::Read(key) | Self::Claim { key, .. } => Some(key),
            Self::Run { keys, .. } | Self::Confirmed { keys, .. } => keys.first().map(String::as_str),
            Self::Publish { .. } | Self::Scan { .. } | Self::Look { .. } => None,
        }
    }

    /// What it is, in the word that figures have for it.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Read(_) => "get",
            Self::Claim { .. } => "claim",
            Self::Run { script, .. } | Self::Confirmed { script, .. } => script.word,
            Self::Publish { .. } => "publish",
            Self::Scan { .. } => "scan",
            Self::Look { .. } => "look",
        }
    }

    /// Whether asking twice is as good as asking once.
    pub(super) fn is_idempotent(&self) -> bool {
        matches!(self, Self::Read(_) | Self::Scan { .. } | Self::Claim { recognise: true, .. })
    }

    /// Asks through `courier`; a script that the server does not know is sent in full.
    pub(super) async fn send(&self, courier: &Courier, role: Role) -> Result<Reply, Trouble> {
        match self.send_as(courier, role, Form::Hash).await {
            Err(Trouble::NoScript) => Box::pin(self.send_as(courier, role, Form::Text)).await,
            answer => answer,
        }
    }

    async fn send_as(&self, courier: &Courier, role: Role, form: Form) -> Result<Reply, Trouble> {
        let mut commands = self.single(form).map_or_else(|| self.several(form), |command| vec![command]);
        let (is_single, commands_sent) = (commands.len() == 1, commands.len());
        // It holds for the next command only.
        let every = if role == Role::Heir { 2 } else { 1 };
        if role == Role::Heir {
            commands = commands.into_iter().flat_map(|command| [cmd("ASKING"), command]).collect();
        }
        let answers = courier.ask(commands).await?;
        let mut answers = answers.into_iter().skip(every - 1).step_by(every);
        if let Self::Look { .. } = self {
            return Ok(Reply::List(answers.map(Reply::from).collect()));
        }
        let first = answers.next().map_or(Ok(Reply::Nothing), plain)?;
        if is_single {
            return Ok(first);
        }
        let mut list = Vec::with_capacity(commands_sent);
        list.push(first);
        for answer in answers {
            list.push(self.further(&list[0], answer)?);
        }
        Ok(Reply::List(list))
    }

    fn single(&self, form: Form) -> Option<Cmd> {
        Some(match self {
            Self::Read(_) | Self::Claim { .. } | Self::Confirmed { .. } | Self::Look { .. } => return None,
            Self::Run { script, keys, arguments } => evaluate(script, keys, arguments, form),
            Self::Publish { channel, message } => cmd("PUBLISH").arg(channel).arg(message).take(),
            Self::Scan { cursor, pattern } => {
                cmd("SCAN").arg(cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(500).take()
            }
        })
    }

    fn several(&self, form: Form) -> Vec<Cmd> {
        let look = |name: &str, key: &str| {
            let mut command = Cmd::with_capacity(2, name.len() + key.len());
            command.arg(name).arg(key);
            command
        };
        match self {
            // The life before the value: what is set in between has a longer one than is then believed.
            Self::Read(key) => vec![look("PTTL", key), look("GET", key)],
            Self::Claim { key, token, life, recognise } => {
                // A life has at most 20 digits.
                let mut set = Cmd::with_capacity(6, key.len() + token.len() + 27);
                set.arg("SET").arg(key).arg(token).arg("NX").arg("PX").arg(life);
                let mut commands = vec![set, look("PTTL", key)];
                commands.extend(recognise.then(|| look("GET", key)));
                commands
            }
            Self::Confirmed { script, keys, arguments, confirm: Confirm { replicas, within } } => {
                let within = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
                vec![evaluate(script, keys, arguments, form), cmd("WAIT").arg(*replicas).arg(within).take()]
            }
            Self::Look { commands } => commands.iter().map(spelled).collect(),
            _ => Vec::new(),
        }
    }

    /// What a later command says. Whoever has claimed the key has, though it be moved before the next command.
    fn further(&self, first: &Reply, answer: Value) -> Result<Reply, Trouble> {
        match self {
            Self::Claim { .. } if *first != Reply::Nothing => Ok(answer.into()),
            _ => tolerant(answer),
        }
    }
}

pub(super) fn spelled(words: &Words) -> Cmd {
    let mut command = Cmd::new();
    for word in words {
        command.arg(word);
    }
    command
}

fn evaluate(script: &Script, keys: &[String], arguments: &[&[u8]], form: Form) -> Cmd {
    let (verb, name) = match form {
        Form::Hash => ("EVALSHA", script.hash.as_str()),
        Form::Text => ("EVAL", script.text),
    };
    let bytes = keys.iter().map(String::len).chain(arguments.iter().map(|argument| argument.len()));
    let bytes = verb.len() + name.len() + 8 + bytes.sum::<usize>();
    let mut command = Cmd::with_capacity(3 + keys.len() + arguments.len(), bytes);
    command.arg(verb).arg(name).arg(keys.len()).arg(keys);
    for argument in arguments {
        command.arg(*argument);
    }
    command
}

fn plain(value: Value) -> Result<Reply, Trouble> {
    match value {
        Value::ServerError(error) => Err(Trouble::of(&error.into())),
        value => Ok(value.into()),
    }
}

/// As [`plain`], but an error about the key alone is an answer.
fn tolerant(value: Value) -> Result<Reply, Trouble> {
    match plain(value) {
        Err(Trouble::Refused(code)) => Ok(Reply::Error(code)),
        answer => answer,
    }
}
