//! A copy of the sources that changes only where it has to, so that little is built anew.

use std::{fs, path::Path};

use anyhow::{Context, Result};

/// What no program is built of.
const LEFT_OUT: [&str; 3] = ["target", ".git", "bench"];

/// Makes `to` the same as `from`, but for what `change` makes of a file: it is given the path inside, and the bytes.
pub(super) fn mirror(from: &Path, to: &Path, change: &dyn Fn(&Path, Vec<u8>) -> Vec<u8>) -> Result<()> {
    copy(from, Path::new(""), to, change)
}

fn copy(from: &Path, inside: &Path, to: &Path, change: &dyn Fn(&Path, Vec<u8>) -> Vec<u8>) -> Result<()> {
    fs::create_dir_all(to.join(inside))?;
    let here = from.join(inside);
    for entry in fs::read_dir(&here).with_context(|| format!("{} cannot be read", here.display()))? {
        let entry = entry?;
        let path = inside.join(entry.file_name());
        if LEFT_OUT.iter().any(|name| path == Path::new(name)) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy(from, &path, to, change)?;
        } else {
            let bytes = change(&path, fs::read(entry.path())?);
            let target = to.join(&path);
            if fs::read(&target).ok().as_ref() != Some(&bytes) {
                fs::write(&target, bytes)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_the_same_keeps_its_time() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(from.path().join("a")).unwrap();
        fs::write(from.path().join("a/b"), "right").unwrap();
        let time = || fs::metadata(to.path().join("a/b")).unwrap().modified().unwrap();
        let same = |_: &Path, bytes| bytes;
        mirror(from.path(), to.path(), &same).unwrap();
        let first = time();
        mirror(from.path(), to.path(), &same).unwrap();
        assert_eq!(time(), first);
        mirror(from.path(), to.path(), &|_, _| b"wrong".to_vec()).unwrap();
        assert_eq!(fs::read(to.path().join("a/b")).unwrap(), b"wrong");
    }
}
