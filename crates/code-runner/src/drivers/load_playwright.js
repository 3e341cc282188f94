/**
 * Playwright, from compiled code where `cache` has it: its seven megabytes take a second to compile. `keep` is given each
 * script with the name of its file in the cache.
 */
function loadPlaywright(folder, cache, keep) {
  const fs = require('fs');
  const path = require('path');
  const vm = require('vm');
  const Module = require('module');
  // Older versions of Node cannot import in a script that was compiled like this.
  const loader = vm.constants && vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  if (!loader || (!cache && !keep)) return require(folder);
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (content, filename, ...more) {
    const name = path.relative(folder, filename).replaceAll(path.sep, '+') + '.bin';
    let cachedData;
    if (cache) {
      try {
        cachedData = fs.readFileSync(path.join(cache, name));
      } catch {}
    }
    if (content.startsWith('#!') || (!cachedData && !keep)) return compile.call(this, content, filename, ...more);
    // V8 checks that the data is of this text and this version; where it is not, the text is compiled.
    const script = new vm.Script(Module.wrap(content), { filename, cachedData, importModuleDynamically: loader });
    if (keep) keep(name, script);
    const run = script.runInThisContext();
    return run.call(this.exports, this.exports, Module.createRequire(filename), this, filename, path.dirname(filename));
  };
  try {
    return require(folder);
  } finally {
    Module.prototype._compile = compile;
  }
}
