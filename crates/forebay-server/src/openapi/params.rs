//! The parameters of calls.

use serde_json::{Value, json};

/// The parameters that stand in `path`, and then the call's own.
pub(super) fn all(path: &str, own: &Value) -> Vec<Value> {
    let names = path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    let own = own.as_array().cloned().unwrap_or_default();
    names.map(parameter).chain(own.into_iter().map(unbounded)).collect()
}

/// Numbers in a query have any number of digits.
fn unbounded(mut parameter: Value) -> Value {
    if let Some(schema) = parameter.get_mut("schema").and_then(Value::as_object_mut) {
        schema.retain(|name, value| name != "format" || value != "int64");
    }
    parameter
}

fn parameter(name: &str) -> Value {
    let (about, schema, example) = match name {
        "space" => ("The space, which is made when it is first used.", named(), "demo"),
        "counter" => ("The counter, which is made when it is first used.", named(), "site"),
        "topic" => ("The topic.", named(), "prices"),
        "policy" => ("The policy, which the server's file declares; `api` is there without.", any(), "api"),
        "subject" => ("Whose quota it is, such as `user:42`; any text.", any(), "user:42"),
        "id" => ("The id, which is any text.", any(), "greeting"),
        "key" => ("The key, which is any text.", any(), "user:42:order:7"),
        _ => ("The name, which is any text.", any(), "plan:42"),
    };
    json!({
        "name": name, "in": "path", "required": true, "description": about, "schema": schema, "example": example,
    })
}

/// As names are bounded by the library.
fn named() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 64, "pattern": "^[a-z0-9._:-]+$" })
}

fn any() -> Value {
    json!({ "type": "string", "minLength": 1 })
}
