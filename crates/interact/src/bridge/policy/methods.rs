//! Which methods of the protocol are open.

/// Domains of which nothing is allowed: they reach other files, programs, ports or profiles of the machine.
pub(super) const CLOSED_DOMAINS: [&str; 5] = ["Extensions", "SystemInfo", "PWA", "Tethering", "Cast"];

/// Of these domains only the methods below are allowed.
pub(super) const BROWSER_METHODS: [&str; 11] = [
    "cancelDownload",
    "getVersion",
    "getWindowBounds",
    "getWindowForTarget",
    "grantPermissions",
    "resetPermissions",
    "setContentsSize",
    "setDockTile",
    "setDownloadBehavior",
    "setPermission",
    "setWindowBounds",
];
pub(super) const TARGET_METHODS: [&str; 14] = [
    "activateTarget",
    "attachToBrowserTarget",
    "attachToTarget",
    "autoAttachRelated",
    "closeTarget",
    "createBrowserContext",
    "createTarget",
    "detachFromTarget",
    "disposeBrowserContext",
    "getBrowserContexts",
    "getTargetInfo",
    "getTargets",
    "setAutoAttach",
    "setDiscoverTargets",
];
pub(super) const STORAGE_METHODS: [&str; 20] = [
    "clearCookies",
    "clearDataForOrigin",
    "clearDataForStorageKey",
    "clearTrustTokens",
    "getCookies",
    "getStorageKey",
    "getStorageKeyForFrame",
    "getTrustTokens",
    "getUsageAndQuota",
    "overrideQuotaForOrigin",
    "setCookies",
    "setStorageBucketTracking",
    "trackCacheStorageForOrigin",
    "trackCacheStorageForStorageKey",
    "trackIndexedDBForOrigin",
    "trackIndexedDBForStorageKey",
    "untrackCacheStorageForOrigin",
    "untrackCacheStorageForStorageKey",
    "untrackIndexedDBForOrigin",
    "untrackIndexedDBForStorageKey",
];

/// Parameters of `Target.createBrowserContext` that would lead around the proxy, or around the same-origin policy.
pub(super) const CLOSED_CONTEXT_PARAMETERS: [&str; 3] =
    ["proxyServer", "proxyBypassList", "originsWithUniversalNetworkAccess"];
