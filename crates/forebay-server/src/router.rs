//! Every call, and what stands in front of it.

use axum::{
    Router,
    middleware::{from_fn, from_fn_with_state},
    routing::{get, post},
};
use tower::ServiceBuilder;
use tower_http::{catch_panic::CatchPanicLayer, trace::TraceLayer};

use crate::{
    api::{
        batch, cache, claims, events, figures, health, idempotency, invalidate, lease, limits, locks, unique,
        visitors,
    },
    app::Shared,
    error::{Kind, Problem},
    middleware::{self, problem_of_panic, require_data, require_data_or_ops, require_read},
};

/// The server as a service.
pub(crate) fn router(app: Shared) -> Router {
    let data = Router::new()
        .route("/v1/cache/{space}/{id}", get(cache::read).put(cache::store).delete(cache::invalidate))
        .route(
            "/v1/cache/{space}/{id}/lease",
            post(lease::take).put(lease::fill).patch(lease::renew).delete(lease::give_back),
        )
        .route("/v1/clear/{space}", post(invalidate::all))
        .route("/v1/limits/{policy}", post(limits::check))
        .route("/v1/limits/{policy}/{subject}", get(limits::peek).delete(limits::reset))
        .route("/v1/batch/cache/{space}", post(batch::cache::call))
        .route("/v1/batch/limits", post(batch::limits::check))
        .route("/v1/locks/{name}", post(locks::take).patch(locks::renew).delete(locks::release))
        .route("/v1/claims/{name}", post(claims::claim).delete(claims::give_back))
        .route(
            "/v1/idempotency/{key}",
            post(idempotency::begin)
                .put(idempotency::complete)
                .patch(idempotency::renew)
                .delete(idempotency::give_up),
        )
        .route("/v1/events/{topic}", post(events::publish).get(events::listen))
        .route("/v1/unique/{counter}", post(unique::record).get(unique::count))
        .route_layer(from_fn_with_state(app.clone(), require_data));
    let invalidations = Router::new()
        .route("/v1/invalidate/{space}", post(invalidate::named))
        .route_layer(from_fn_with_state(app.clone(), require_data_or_ops));
    let figures = Router::new()
        .route("/rate-limit/stats", get(figures::limits))
        .route("/analytics/uv/today", get(visitors::today))
        .route("/analytics/uv/weekly", get(visitors::weekly))
        .route_layer(from_fn_with_state(app.clone(), require_read));
    let routes = Router::new()
        .route("/livez", get(health::alive))
        .route("/readyz", get(health::ready))
        .merge(data)
        .merge(invalidations)
        .merge(figures)
        .fallback(unknown);
    around(routes, &app).with_state(app)
}

/// See `middleware.rs` for the order.
fn around(routes: Router<Shared>, app: &Shared) -> Router<Shared> {
    let routes = routes.layer(from_fn(middleware::paths));
    limited(routes, app).layer(
        ServiceBuilder::new()
            .layer(from_fn(middleware::request_id))
            .layer(TraceLayer::new_for_http().make_span_with(middleware::span).on_failure(()))
            .layer(from_fn(middleware::problems))
            .layer(from_fn(middleware::leftover))
            .layer(CatchPanicLayer::custom(problem_of_panic))
            .layer(from_fn_with_state(app.clone(), middleware::deadline)),
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
         /v1/idempotency/{key}, /v1/unique/{counter}, /v1/events/{topic}, /rate-limit/stats, /analytics/uv/today, \
         /analytics/uv/weekly, /livez and /readyz",
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
