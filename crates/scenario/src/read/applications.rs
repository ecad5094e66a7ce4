//! Applications of flows.

use super::Fields;
use crate::diagnostic::Reported;
use crate::schema;
use crate::tree::Entry;
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration};

/// The application of a flow.
pub(super) fn read(fields: &Fields<'_>, entry: &Entry) -> Result<Application, Reported> {
    let kind = fields.kind(entry, &schema::APPLICATIONS, "application")?;
    match kind.section.kind {
        Some("transfer") => Ok(Application::Transfer {
            size: kind.required("size")?,
        }),
        Some("request-response") => {
            let (request, response) = (kind.required("request"), kind.required("response"));
            let (count, think_time) = (kind.optional("count"), kind.optional("think_time"));
            Ok(Application::RequestResponse {
                request: request?,
                response: response?,
                count: count?.unwrap_or(1),
                think_time: think_time?.unwrap_or(Duration::ZERO),
            })
        }
        Some("constant-rate") => {
            let (rate, packet_size) = (kind.required("rate"), kind.optional("packet_size"));
            Ok(Application::ConstantRate {
                rate: rate?,
                packet_size: packet_size?.unwrap_or(Bytes::new(1500)),
            })
        }
        _ => Ok(Application::Persistent),
    }
}
