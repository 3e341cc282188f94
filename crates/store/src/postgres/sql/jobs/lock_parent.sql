-- Always before any of its children, so that nobody waits in a circle.
SELECT state, cancel_requested, reservation FROM jobs WHERE id = $1 FOR NO KEY UPDATE
