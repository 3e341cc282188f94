// The site that the calls of all clients are tried on. `localhost` and `127.0.0.1` are two sites to a browser.

import { createServer } from "node:http";
import { WebSocketServer } from "ws";

const html = body => ({ type: "text/html; charset=utf-8", body: `<!doctype html>${body}` });
const script = body => ({ type: "text/javascript", body });

const pages = {
  "/": html(`<title>Bird Shop</title><h1>Bird Shop</h1><nav aria-label=Main><a href=/about>About us</a> <a href=/form>Order</a></nav>
    <main><p class=price>Gannet: <b>24.99</b></p><img src=/bird.svg alt="A gannet in flight"><ul><li>tern</li><li>puffin</li><li>gannet</li></ul>
    <button id=buy onclick="out.textContent = 'bought ' + ++count">Buy now</button><p id=out></p></main><script>count = 0</script>`),
  "/about": html("<title>About us</title><h1>About us</h1><a href=/>Home</a><p>Since 1999.</p>"),
  "/form": html(`<title>Order</title><form action=/sent method=post><label>Name <input id=name name=name placeholder="Your name"></label>
    <label>Notes <textarea id=notes></textarea></label><label>Size <select id=size name=size><option value=s>Small<option value=m>Medium<option value=l>Large</select></label>
    <label>Extras <select id=extras multiple><option>bag<option>card<option>ribbon</select></label>
    <label><input type=checkbox id=agree> I agree</label><label><input type=radio name=pay value=card> Card</label><label><input type=radio name=pay value=cash> Cash</label>
    <button id=send>Send</button></form><button id=off disabled>Off</button><input id=late hidden data-testid=late>
    <p id=log></p><script>for (const kind of ["dblclick", "contextmenu", "mouseover", "keydown", "focusin", "drop", "wheel", "touchstart"]) addEventListener(kind, event => {
      log.dataset[kind.toLowerCase()] = event.key ?? event.target.id ?? "yes"; });</script>`),
  "/inner": html("<title>Inner</title><p id=text>inside</p><button onclick=\"text.textContent='pressed'\">Press</button>"),
  "/drag": html(`<div id=from draggable=true style="width:80px;height:80px;background:red" ondragstart="event.dataTransfer.setData('text','bird')">a</div>
    <div id=to style="width:80px;height:80px;background:blue" ondragover="event.preventDefault()" ondrop="this.textContent = event.dataTransfer.getData('text')">b</div>`),
  "/tall": html("<div style='height:5000px'>top</div><p id=end>end</p>"),
  "/upload": html("<input type=file id=file multiple onchange=\"Promise.all([...files].map(f => f.text().then(t => f.name + ':' + t))).then(t => out.textContent = t.join())\"><p id=out></p>"),
  "/worker": html("<title>Worker</title><script>worker = new Worker('/worker.js'); worker.onmessage = e => document.title = e.data</script>"),
  "/worker.js": script("self.twice = n => 2 * n; onmessage = e => postMessage('got ' + e.data); console.log('worker is up')"),
  "/service": html("<title>Service</title><script>ready = navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready)</script>"),
  "/service.js": script("oninstall = () => skipWaiting(); onactivate = e => e.waitUntil(clients.claim()); onfetch = e => { if (e.request.url.endsWith('/from-service')) e.respondWith(new Response('by the service worker')); }"),
  "/socket-page": html("<p id=out></p><script>s = new WebSocket(location.href.replace(/^http/, 'ws').replace('socket-page', 'socket')); s.onopen = () => s.send('hello'); s.onmessage = e => out.textContent = e.data</script>"),
  "/style.css": { type: "text/css", body: ".used { color: rgb(1, 2, 3) } .unused { color: red }" },
  "/covered": html("<link rel=stylesheet href=/style.css><p class=used>text</p><script src=/covered.js></script>"),
  "/covered.js": script("function used() { return 1; } function unused() { return 2; } used();"),
  "/bird.svg": { type: "image/svg+xml", body: "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='40'><circle r='20' cx='20' cy='20'/></svg>" },
  "/data.json": { type: "application/json", body: JSON.stringify({ birds: ["gannet", "tern"] }) },
  "/file.txt": { type: "application/octet-stream", body: "a small file", headers: { "Content-Disposition": "attachment; filename=birds.txt" } },
  "/download": html("<a id=get href=/file.txt>Get</a>"),
};

/** Starts the site; its address. */
export async function startSite() {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, "http://site");
    let body = "";
    for await (const piece of request) body += piece;
    const send = (status, headers, text) => response.writeHead(status, headers).end(text);
    const page = pages[url.pathname];
    if (page) return send(200, { "Content-Type": page.type, ...page.headers }, page.body);
    switch (url.pathname) {
      case "/frames":
        return send(200, { "Content-Type": "text/html" }, `<!doctype html><title>Frames</title><iframe name=near src=/inner></iframe>
          <iframe name=far src="http://localhost:${server.address().port}/inner"></iframe>`);
      case "/echo": return send(200, { "Content-Type": "application/json", "Access-Control-Allow-Origin": "*" }, JSON.stringify({ method: request.method, headers: request.headers, body }));
      case "/sent": return send(200, { "Content-Type": "text/html" }, `<title>Sent</title><h1>Thank you</h1><pre>${body}</pre>`);
      case "/redirect": return send(302, { Location: "/about" });
      case "/cookie": return send(200, { "Set-Cookie": "visit=1; Path=/; Max-Age=600", "Content-Type": "text/html" }, "<title>Cookie</title>");
      case "/slow": return setTimeout(() => send(200, { "Content-Type": "text/html" }, "<title>Slow</title>"), 700);
      case "/login":
        return request.headers.authorization === `Basic ${btoa("ann:secret")}` ? send(200, { "Content-Type": "text/html" }, "<title>Welcome</title>")
          : send(401, { "WWW-Authenticate": "Basic realm=shop" }, "who are you?");
      default: return send(404, { "Content-Type": "text/html" }, "<title>Not found</title>");
    }
  });
  new WebSocketServer({ server, path: "/socket" }).on("connection", socket => socket.on("message", text => socket.send(`echo ${text}`)));
  await new Promise(done => server.listen(0, "127.0.0.1", done));
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
}
