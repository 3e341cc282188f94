SELECT j.id, j.team_id, j.parent_id, j.attempts, j.max_attempts, j.cancel_requested, j.reservation, j.lease_until,
       p.state AS parent_state, p.cancel_requested AS parent_cancel_requested, p.reservation AS parent_reservation
FROM jobs j
LEFT JOIN jobs p ON p.id = j.parent_id
WHERE j.id = ?1 AND j.state = 1 AND j.lease_owner = ?2 AND j.lease_number = ?3
