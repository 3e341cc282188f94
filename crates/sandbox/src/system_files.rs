//! The files of the system that programs of others need to run at all.

/// Programs, libraries, certificates, fonts and the time zone, where distributions keep them. To be read; none of them
/// tells of users or of the server.
pub const SYSTEM_FILES: [&str; 12] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/ssl",
];
/// Devices that hold nothing and lead nowhere.
pub const HARMLESS_DEVICES: [&str; 5] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
