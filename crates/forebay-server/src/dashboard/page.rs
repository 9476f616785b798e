//! The files of the page, and of the pages that describe the calls. They hold no figures, and so are open to everybody.

use std::sync::LazyLock;

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};

use crate::{
    error::{Kind, Problem},
    extract::Query,
};

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! files {
    ($($name:literal $media_type:ident,)*) => {
        &[$(($name, $media_type, include_bytes!(concat!("../../page/", $name)))),*]
    };
}

/// Name below `/dashboard/`, media type, content.
const FILES: &[(&str, &str, &[u8])] = files! {
    "index.html" HTML,
    "page.css" CSS,
    "docs.html" HTML,
    "docs.css" CSS,
    "icon.svg" SVG,
    "actions.js" SCRIPT,
    "banner.js" SCRIPT,
    "chart.js" SCRIPT,
    "charts.js" SCRIPT,
    "docs.js" SCRIPT,
    "dom.js" SCRIPT,
    "format.js" SCRIPT,
    "lists.js" SCRIPT,
    "main.js" SCRIPT,
    "panels.js" SCRIPT,
    "series.js" SCRIPT,
    "server.js" SCRIPT,
    "sign-in.js" SCRIPT,
    "strip.js" SCRIPT,
    "theme.js" SCRIPT,
    "vendor/uPlot.esm.js" SCRIPT,
    "vendor/uPlot.min.css" CSS,
};

/// The page loads nothing from elsewhere, runs no code but these files, and stands in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    // Kept, but asked for each time: after an upgrade nobody sees one half of the old page.
    (header::CACHE_CONTROL, "no-cache"),
];

/// The validators of [`FILES`], in their order.
static TAGS: LazyLock<Vec<HeaderValue>> = LazyLock::new(|| {
    let tag = |content: &[u8]| format!("\"{}\"", hex::encode(&Sha256::digest(content)[..16]));
    FILES.iter().map(|file| tag(file.2).try_into().expect("hexadecimal digits are visible")).collect()
});

/// `GET /`, `GET /docs`, and `GET /dashboard/{file}`.
pub(crate) async fn asset(uri: Uri, headers: HeaderMap) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    let found = find(uri.path()).ok_or_else(|| {
        Problem::new(
            Kind::NotFound,
            "the dashboard has no such file; it is at /, and loads what it needs from there",
        )
    })?;
    let (_, media_type, content) = FILES[found];
    let tag = TAGS[found].clone();
    let mut response = match headers.get(header::IF_NONE_MATCH) == Some(&tag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => Body::from(content).into_response(),
    };
    let answered = response.headers_mut();
    for (name, value) in HEADERS {
        answered.insert(name, HeaderValue::from_static(value));
    }
    answered.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    answered.insert(header::ETAG, tag);
    Ok(response)
}

/// Whether `path` is a file of the page.
pub(crate) fn is_asset(path: &str) -> bool {
    find(path).is_some()
}

fn find(path: &str) -> Option<usize> {
    let name = match path {
        "/" => "index.html",
        "/docs" => "docs.html",
        path => path.strip_prefix("/dashboard/")?,
    };
    FILES.iter().position(|file| file.0 == name)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    fn page() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/page"))
    }

    fn listed(folder: &Path) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => names.extend(listed(&path)),
                false => drop(names.insert(path.strip_prefix(page()).unwrap().to_str().unwrap().to_owned())),
            }
        }
        names
    }

    #[test]
    fn every_file_of_the_page_is_served() {
        let is_served =
            |name: &String| [".html", ".css", ".js", ".svg"].iter().any(|end| name.ends_with(end));
        let there: BTreeSet<_> = listed(page()).into_iter().filter(is_served).collect();
        let served: BTreeSet<_> = FILES.iter().map(|file| file.0.to_owned()).collect();
        assert_eq!(served, there);
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere_and_nothing_stands_inline() {
        for (name, _, content) in FILES.iter().filter(|file| !file.0.starts_with("vendor/")) {
            let text = str::from_utf8(content).unwrap();
            for forbidden in
                ["https://", "http://", "//cdn", "innerHTML", "insertAdjacentHTML", "eval(", "<style"]
            {
                let is_namespace = |at: usize| text[at..].starts_with("http://www.w3.org/");
                let mut found = text.match_indices(forbidden).filter(|(at, _)| !is_namespace(*at));
                assert_eq!(found.next(), None, "{name}");
            }
            if name.ends_with(".html") {
                for inline in ["style=", " onclick", " onload", "<script>"] {
                    assert!(!text.contains(inline), "{inline}");
                }
            }
        }
    }

    #[test]
    fn what_is_vendored_is_what_was_published() {
        let vendored = fs::read_to_string(page().join("vendor/VERSIONS.txt")).unwrap();
        let lines = vendored.lines().filter_map(|line| line.split_once("  "));
        let hashes: BTreeSet<_> = lines.map(|(hash, name)| (name.to_owned(), hash.to_owned())).collect();
        let hash =
            |name: &str| hex::encode(Sha256::digest(fs::read(page().join("vendor").join(name)).unwrap()));
        let there = listed(&page().join("vendor")).into_iter().filter_map(|name| {
            let name = name.strip_prefix("vendor/")?.to_owned();
            (name != "VERSIONS.txt").then(|| (name.clone(), hash(&name)))
        });
        assert_eq!(hashes, there.collect());
    }
}
