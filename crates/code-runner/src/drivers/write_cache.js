// Writes the compiled code of Playwright, the first argument, to the folder that is the second.
const [folder, cache] = process.argv.slice(1);
const scripts = [];
loadPlaywright(folder, undefined, (name, script) => scripts.push([name, script]));
for (const [name, script] of scripts) {
  // After it has run: what was compiled on the way is part of it.
  require('fs').writeFileSync(require('path').join(cache, name), script.createCachedData(), { mode: 0o644 });
}
process.exit();
