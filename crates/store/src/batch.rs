//! What a batch of scrapes comes to, apart from any database: which records are fit to be written, how
//! much of each, and who pays. Both stores ask here.

use crate::Millis;
use crate::scrapes::{MAX_SCRAPE_BYTES, NewScrape, Recorded};
use std::collections::HashSet;
use uuid::Uuid;

/// A scrape that may be written, and its place in the batch.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub place: usize,
    pub scrape: NewScrape,
}

/// Sorts out what breaks a rule by itself. The outcomes of all, as if all the admitted were written, and
/// those.
pub(crate) fn admit(scrapes: Vec<NewScrape>) -> (Vec<Recorded>, Vec<Admitted>) {
    let mut outcomes = Vec::with_capacity(scrapes.len());
    let mut admitted = Vec::with_capacity(scrapes.len());
    let (mut ids, mut reservations) = (HashSet::new(), HashSet::new());
    for (place, scrape) in scrapes.into_iter().enumerate() {
        let fault = if !ids.insert(scrape.id) {
            Some("its id is there twice in one batch")
        } else if scrape.reservation.is_some_and(|id| !reservations.insert(id)) {
            Some("its reservation is there twice in one batch")
        } else if scrape.credits < 0 {
            Some("its credits are negative")
        } else if size(&scrape) > MAX_SCRAPE_BYTES {
            Some("its result and page are too large")
        } else {
            None
        };
        if let Some(fault) = fault {
            outcomes.push(Recorded::Refused(fault.into()));
        } else {
            outcomes.push(Recorded::Written);
            admitted.push(Admitted { place, scrape: discreet(scrape) });
        }
    }
    (outcomes, admitted)
}

pub(crate) fn not_covered() -> Recorded {
    Recorded::Refused("its reservation is closed or does not cover its credits".into())
}

fn size(scrape: &NewScrape) -> usize {
    let error = scrape.error.as_ref().map_or(0, String::len);
    let page = scrape.page.as_ref().map_or(0, |page| page.body.len() + page.headers.len());
    let search = scrape.search.as_ref().map_or(0, |page| page.document.len());
    scrape.result.as_ref().map_or(0, Vec::len) + error + page + search
}

/// A private scrape without anything that says what it was about.
fn discreet(scrape: NewScrape) -> NewScrape {
    if !scrape.private {
        return scrape;
    }
    NewScrape {
        url: String::new(),
        result: None,
        error: None,
        page: None,
        search: None,
        audit: None,
        ..scrape
    }
}

/// Who spends, in which period, on what.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spender {
    pub team: Uuid,
    pub period: Millis,
    pub key: Option<Uuid>,
    pub purpose: String,
}

impl Spender {
    /// Who spends when nothing was set aside.
    pub(crate) fn without_reservation(scrape: &NewScrape, period: Millis) -> Self {
        Self { team: scrape.team_id, period, key: scrape.key_id, purpose: scrape.endpoint.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn scrape(n: u128) -> NewScrape {
        NewScrape {
            id: Uuid::from_u128(n),
            team_id: Uuid::nil(),
            key_id: None,
            endpoint: "scrape".into(),
            url: "http://secret.test/".into(),
            ok: false,
            result: Some(vec![1]),
            error: Some("secret".into()),
            page: None,
            search: None,
            credits: 1,
            reservation: None,
            audit: Some("somebody".into()),
            took: None,
            keep_for: Duration::from_secs(1),
            private: false,
            claim: None,
        }
    }

    #[test]
    fn the_fit_go_on_and_the_unfit_say_why() {
        let held = Some(Uuid::from_u128(9));
        let batch = vec![
            NewScrape { reservation: held, ..scrape(1) },
            scrape(1),
            NewScrape { reservation: held, ..scrape(2) },
            NewScrape { credits: -1, ..scrape(3) },
            NewScrape { result: Some(vec![0; MAX_SCRAPE_BYTES]), ..scrape(4) },
            scrape(5),
        ];
        let (outcomes, admitted) = admit(batch);
        let written: Vec<bool> = outcomes.iter().map(|outcome| *outcome == Recorded::Written).collect();
        assert_eq!(written, [true, false, false, false, false, true]);
        assert_eq!(admitted.iter().map(|one| one.place).collect::<Vec<_>>(), [0, 5]);
    }

    #[test]
    fn a_private_scrape_says_nothing() {
        let (_, admitted) = admit(vec![NewScrape { private: true, ..scrape(1) }]);
        let kept = &admitted[0].scrape;
        assert!(kept.url.is_empty() && kept.result.is_none() && kept.error.is_none());
        assert!(kept.page.is_none() && kept.audit.is_none());
        assert_eq!((kept.credits, kept.ok), (1, false));
    }
}
