//! The cases, by what they are about.

pub(crate) mod coalescing;

/// Stamps one test per case for a rig. A case that is not listed here is dead code.
macro_rules! stamp {
    ($rig:ty) => {
        crate::cases::stamp! { $rig;
            coalescing: {
                a_thousand_callers_make_one_load,
                a_caller_that_leaves_harms_nobody,
            }
        }
    };
    ($rig:ty; $($topic:ident: { $($case:ident,)* })*) => {
        $(mod $topic {
            $(#[tokio::test]
            async fn $case() {
                crate::cases::$topic::$case(<$rig>::new().await).await;
            })*
        })*
    };
}
pub(crate) use stamp;
