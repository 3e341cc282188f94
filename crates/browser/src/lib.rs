//! Chromium: found, started on first need, watched and recycled. Pages are visited in contexts of their own,
//! and every byte they ask for passes the loopback proxy of `net`.
