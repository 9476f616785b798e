//! The routes: what a request asks of the catalog, and how the answer looks.

use std::num::NonZeroU32;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{
        Path, State,
        rejection::{JsonRejection, PathRejection},
    },
    http::{Method, Uri},
    response::IntoResponse,
    routing::{get, put},
};
use serde::{Deserialize, Serialize};

use crate::{catalog::Catalog, problem::Problem, timing::Timing};

type Id = Result<Path<u32>, PathRejection>;

pub(crate) fn router(catalog: Catalog) -> Router {
    Router::new()
        .route("/products/{id}", get(product))
        .route("/products/{id}/price", put(set_price))
        .route("/stats", get(stats))
        .route("/livez", get(async || "ok\n"))
        .fallback(async |method: Method, uri: Uri| Problem::no_route(&method, &uri))
        .with_state(catalog)
}

async fn product(State(catalog): State<Catalog>, id: Id) -> Result<impl IntoResponse, Problem> {
    let Path(id) = id?;
    let timing = Timing::start();
    let found = catalog.product(id, &timing).await?;
    let product = found.ok_or_else(|| Problem::no_product(id))?;
    Ok((timing.header(&product), Json(&*product.value).into_response()))
}

#[derive(Deserialize)]
struct NewPrice {
    price_cents: NonZeroU32,
}

#[derive(Serialize)]
struct Priced {
    id: u32,
    price_cents: NonZeroU32,
}

async fn set_price(State(catalog): State<Catalog>, id: Id, body: Bytes) -> Result<Json<Priced>, Problem> {
    let Path(id) = id?;
    // Whatever its content type says, so that curl needs no header.
    let Json(NewPrice { price_cents }) =
        Json::from_bytes(&body).map_err(|why: JsonRejection| Problem::no_price(&why))?;
    if catalog.set_price(id, price_cents).await? {
        Ok(Json(Priced { id, price_cents }))
    } else {
        Err(Problem::no_product(id))
    }
}

/// What the program has done since it began.
#[derive(Serialize)]
struct Figures {
    /// Times the database was asked for a product.
    queries: u64,
    /// Loads that the cache ran; each is one query.
    loads: u64,
    /// Reads answered at once from the memory of this process.
    memory_hits: u64,
    /// Reads answered at once from the store, which is Redis where there is one.
    store_hits: u64,
    /// Reads that waited for a load that ran already.
    coalesced: u64,
    /// Reads of products that do not exist.
    absences: u64,
}

async fn stats(State(catalog): State<Catalog>) -> Json<Figures> {
    let (queries, cache) = catalog.stats();
    Json(Figures {
        queries,
        loads: cache.loads,
        memory_hits: cache.memory_hits,
        store_hits: cache.store_hits,
        coalesced: cache.coalesced,
        absences: cache.absences,
    })
}
