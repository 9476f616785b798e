//! Writes `grafana.json` and `alerts.yaml` anew: `cargo run -p forebay-ops`.

use std::{fs, io, path::Path};

use forebay_ops::{alerts, board};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::write(folder.join("grafana.json"), board::json())?;
    fs::write(folder.join("alerts.yaml"), alerts::yaml())
}
