//! Every call, and what stands in front of it.

use axum::{
    Extension, Router,
    http::{HeaderValue, header::CONTENT_SECURITY_POLICY},
    middleware::{from_fn, from_fn_with_state},
    routing::get,
};
use tower::ServiceBuilder;
use tower_http::{catch_panic::CatchPanicLayer, set_header::SetResponseHeaderLayer, trace::TraceLayer};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    api::{
        batch, cache, claims, events, figures, health, idempotency, inspect, invalidate, lease, limits,
        locks, metrics, monitor, unique, visitors,
    },
    app::Shared,
    config::Scope,
    dashboard,
    error::{Kind, Problem},
    middleware::{self, problem_of_panic, require_data, require_data_or_ops, require_ops, require_read},
    openapi::{self, Document},
};

/// For everything that is no page of the server's: whatever is stored, a browser runs none of it.
const INERT: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox");

/// The server as a service.
pub(crate) fn router(app: Shared) -> Router {
    let page = Router::new()
        .route("/", get(dashboard::asset))
        .route("/docs", get(dashboard::asset))
        .route("/dashboard/{file}", get(dashboard::asset))
        .route("/dashboard/{folder}/{file}", get(dashboard::asset));
    let guarded = |(access, calls): (Access, OpenApiRouter<Shared>)| access.guard(calls.into(), &app);
    let calls = groups().into_iter().map(guarded).fold(page, Router::merge);
    let document = Extension(Document::new(document()));
    around(calls.fallback(unknown).layer(document), &app).with_state(app)
}

/// What there is to call, as an OpenAPI document.
pub(crate) fn document() -> String {
    let described =
        |(access, calls): (Access, OpenApiRouter<Shared>)| (calls.into_openapi(), access.scopes());
    Document::of(groups().into_iter().map(described))
}

/// All calls, by who may make them.
fn groups() -> [(Access, OpenApiRouter<Shared>); 5] {
    [
        (Access::Open, open()),
        (Access::Data, data()),
        (Access::Changes, changes()),
        (Access::Figures, figures()),
        (Access::Operations, operations()),
    ]
}

fn open() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(health::alive))
        .routes(routes!(health::ready))
        .routes(routes!(openapi::document))
        .routes(routes!(dashboard::rights::rights))
}

fn data() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(cache::read, cache::store, cache::invalidate))
        .routes(routes!(lease::take, lease::fill, lease::renew, lease::give_back))
        .routes(routes!(invalidate::all))
        .routes(routes!(limits::check))
        .routes(routes!(limits::peek))
        .routes(routes!(batch::cache::call))
        .routes(routes!(batch::limits::check))
        .routes(routes!(locks::take, locks::renew, locks::release))
        .routes(routes!(claims::claim, claims::give_back))
        .routes(routes!(idempotency::begin, idempotency::complete, idempotency::renew, idempotency::give_up))
        .routes(routes!(events::publish, events::listen))
        .routes(routes!(unique::record, unique::count))
}

fn changes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(invalidate::named)).routes(routes!(limits::reset))
}

fn figures() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(metrics::text))
        .routes(routes!(figures::limits))
        .routes(routes!(monitor::stats))
        .routes(routes!(visitors::today))
        .routes(routes!(visitors::weekly))
        .routes(routes!(dashboard::past::past))
        .routes(routes!(dashboard::live::live))
}

fn operations() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(inspect::inspect)).routes(routes!(locks::force_release))
}

/// Who may make a call.
#[derive(Debug, Clone, Copy)]
enum Access {
    Open,
    Data,
    Changes,
    Figures,
    Operations,
}

impl Access {
    /// The scopes of which one is needed.
    fn scopes(self) -> &'static [Scope] {
        match self {
            Self::Open => &[],
            Self::Data => &[Scope::Data],
            Self::Changes => &[Scope::Data, Scope::Ops],
            Self::Figures => &[Scope::Read],
            Self::Operations => &[Scope::Ops],
        }
    }

    fn guard(self, calls: Router<Shared>, app: &Shared) -> Router<Shared> {
        let app = app.clone();
        match self {
            Self::Open => calls,
            Self::Data => calls.route_layer(from_fn_with_state(app, require_data)),
            Self::Changes => calls.route_layer(from_fn_with_state(app, require_data_or_ops)),
            Self::Figures => calls.route_layer(from_fn_with_state(app, require_read)),
            Self::Operations => calls.route_layer(from_fn_with_state(app, require_ops)),
        }
    }
}

/// See `middleware.rs` for the order.
fn around(routes: Router<Shared>, app: &Shared) -> Router<Shared> {
    let routes = routes.layer(from_fn(middleware::paths));
    limited(routes, app).layer(
        ServiceBuilder::new()
            .layer(from_fn(middleware::request_id))
            .layer(TraceLayer::new_for_http().make_span_with(middleware::span).on_failure(()))
            .layer(from_fn_with_state(app.clone(), middleware::figures))
            .layer(from_fn(middleware::problems))
            .layer(SetResponseHeaderLayer::if_not_present(CONTENT_SECURITY_POLICY, INERT))
            .layer(from_fn(middleware::leftover))
            .layer(CatchPanicLayer::custom(problem_of_panic))
            .layer(from_fn_with_state(app.clone(), middleware::deadline))
            .layer(from_fn_with_state(app.clone(), middleware::strangers)),
    )
}

/// Limits the callers, if the server is told to.
fn limited(routes: Router<Shared>, app: &Shared) -> Router<Shared> {
    let Some(policy) = app.limits.own() else { return routes };
    routes.layer(
        ServiceBuilder::new()
            .layer(from_fn_with_state(app.clone(), middleware::in_own_words))
            .layer(middleware::callers(app))
            .layer(middleware::limit(policy)),
    )
}

async fn unknown() -> Problem {
    Problem::new(
        Kind::NotFound,
        "no call has this path; values are under /v1/cache/{space}/{id}, and there are /v1/invalidate/{space}, \
         /v1/clear/{space}, /v1/limits/{policy}, /v1/batch/cache/{space}, /v1/batch/limits, /v1/locks/{name}, /v1/claims/{name}, \
         /v1/idempotency/{key}, /v1/unique/{counter}, /v1/events/{topic}, /ops/cache/{space}/{id}, /ops/locks/{name}, \
         /rate-limit/stats, /redis-monitor/stats, /analytics/uv/today, /analytics/uv/weekly, /metrics, /openapi.json, /livez, /readyz, \
         the dashboard at / and what is described of all these at /docs",
    )
}

#[cfg(test)]
mod tests {
    use std::{future::pending, sync::Arc, time::Duration};

    use axum::{
        body::{Body, to_bytes},
        http::{Request, StatusCode},
    };
    use tower::ServiceExt;

    use super::*;
    use crate::{
        app::App,
        config::{Config, Flags},
    };

    async fn start() -> App {
        let app = App::start(&Config::load(Flags::default()).unwrap()).await.unwrap();
        Arc::into_inner(app).unwrap()
    }

    async fn panics() {
        panic!("a secret")
    }

    #[tokio::test]
    async fn a_panic_becomes_a_problem_that_tells_nothing() {
        let app = Arc::new(start().await);
        let router = around(Router::new().route("/", get(panics)), &app).with_state(app);
        let request = Request::get("/").header("x-request-id", "seven").body(Body::empty()).unwrap();

        let response = router.oneshot(request).await.unwrap();

        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = to_bytes(response.into_body(), 1_000).await.unwrap();
        let text = String::from_utf8_lossy(&body);
        assert!(text.contains("problems/internal") && text.contains("seven"), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }

    #[tokio::test]
    async fn a_request_that_takes_too_long_ends() {
        let app = Arc::new(App { request_deadline: Duration::from_millis(50), ..start().await });
        let router = around(Router::new().route("/", get(pending::<()>)), &app).with_state(app);

        let response = router.oneshot(Request::new(Body::from("unread"))).await.unwrap();

        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    }
}
