//! The Lua state of the small Redis: the libraries that a script finds there, and its globals.

use std::{cell::RefCell, rc::Rc};

use mlua::{Error, Function, Lua, LuaOptions, MultiValue, Result, StdLib, Value};

use super::{
    packing,
    reply::{Reply, whole},
    world::World,
};

/// A compiled script.
#[derive(Clone)]
pub(in super::super) struct Script(Function);

pub(super) struct Host(Lua);

/// Redis too refuses to read or write a global that it did not make.
const NO_NEW_GLOBALS: &str = "
    setmetatable(_G, {
        __index = function(_, name) error('a script reads the global ' .. tostring(name)) end,
        __newindex = function(_, name) error('a script writes the global ' .. tostring(name)) end,
    })";

impl Host {
    pub(super) fn new(world: &Rc<RefCell<World>>) -> Self {
        Self::open(world).expect("a fresh state takes its libraries")
    }

    fn open(world: &Rc<RefCell<World>>) -> Result<Self> {
        let lua = Lua::new_with(StdLib::TABLE | StdLib::STRING | StdLib::MATH, LuaOptions::new())?;
        let commands = lua.create_table()?;
        commands.set("call", command(&lua, world.clone(), true)?)?;
        commands.set("pcall", command(&lua, world.clone(), false)?)?;
        lua.globals().set("redis", commands)?;
        lua.globals().set("struct", packing::library(&lua, world.clone())?)?;
        lua.load(NO_NEW_GLOBALS).exec()?;
        Ok(Self(lua))
    }

    pub(super) fn load(&self, text: &str) -> Script {
        Script(self.0.load(text).into_function().expect("the script compiles"))
    }

    pub(super) fn run(
        &self,
        script: &Script,
        keys: &[&str],
        args: &[Vec<u8>],
    ) -> std::result::Result<Reply, String> {
        self.answer(script, keys, args).map_err(|error| error.to_string())
    }

    fn answer(&self, script: &Script, keys: &[&str], args: &[Vec<u8>]) -> Result<Reply> {
        let strings = args.iter().map(|arg| self.0.create_string(arg)).collect::<Result<Vec<_>>>()?;
        let globals = self.0.globals();
        globals.raw_set("KEYS", keys)?;
        globals.raw_set("ARGV", strings)?;
        Reply::from_lua(script.0.call(())?)
    }
}

/// `redis.call`, which raises an error, or `redis.pcall`, which returns it.
fn command(lua: &Lua, world: Rc<RefCell<World>>, raises: bool) -> Result<Function> {
    lua.create_function(move |lua, args: MultiValue| {
        let words = args.into_iter().map(word).collect::<Result<Vec<_>>>()?;
        match world.borrow_mut().command(&words) {
            Reply::Error(text) if raises => Err(Error::runtime(text)),
            reply => reply.into_lua(lua),
        }
    })
}

fn word(value: Value) -> Result<Vec<u8>> {
    match value {
        Value::String(text) => Ok(text.as_bytes().to_vec()),
        Value::Integer(number) => Ok(number.to_string().into_bytes()),
        Value::Number(number) => Ok(whole(number)?.to_string().into_bytes()),
        other => Err(Error::runtime(format!("a command takes no {}", other.type_name()))),
    }
}
