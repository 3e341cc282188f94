// Runs a table of calls: each by itself, in time, and prints what became of it as one line of JSON.

const CALL_TIMEOUT_MS = 20_000;

/**
 * @param calls name → function; it throws if the user would not see what the call promises
 * @param open makes what the functions are given; its `close` is called after each
 */
export async function runCalls(calls, open) {
  const only = process.env.ONLY?.split(","), every = Number(process.env.EVERY ?? 1);
  for (const [index, [name, call]] of Object.entries(calls).entries()) {
    if (only ? !only.includes(name) : index % every) continue;
    const began = Date.now();
    let given, error = null;
    try {
      given = await inTime(open());
      await inTime(call(given));
    } catch (failure) {
      error = String(failure?.stack ?? failure).slice(0, 1500);
    }
    await inTime(Promise.resolve(given?.close?.())).catch(failure => { error ??= `closing: ${failure}`; });
    console.log(JSON.stringify({ name, ms: Date.now() - began, error }));
  }
}

function inTime(promise) {
  let timer;
  const late = new Promise((_, failed) => { timer = setTimeout(() => failed(new Error("not done in time")), CALL_TIMEOUT_MS); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
