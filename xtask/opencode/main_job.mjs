// The main job in the real opencode, with the configuration that `gatelatch connect opencode --write` makes.
// A scripted stand-in answers as the model; everything else is the real thing.
// usage: node main_job.mjs OPENCODE GATELATCH
import { spawn, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

const [opencode, gatelatch] = process.argv.slice(2).map((file) => path.resolve(file));
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'gatelatch-opencode-'));
const project = path.join(work, 'project');
const home = path.join(work, 'home');
for (const folder of [project, home]) fs.mkdirSync(folder);
const outbox = path.join(home, '.local/state/gatelatch/outbox');
const env = {
  PATH: process.env.PATH, HOME: home, TERM: 'dumb', NO_PROXY: '127.0.0.1',
  OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1', OPENCODE_DISABLE_SHARE: '1',
};
const children = [];
let passed = 0, failed = 0;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
function check(what, holds, detail = '') {
  holds ? passed++ : failed++;
  console.log(`${holds ? 'PASS' : 'FAIL'} opencode main job: ${what}${holds || !detail ? '' : ` (${String(detail).slice(0, 600)})`}`);
}

// The stand-in: the user's text is the tool call to make; once a tool has answered, it says "done".
const asked = [];
const plain = (content) => typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');
const model = http.createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { messages = [], tools = [] } = body ? JSON.parse(body) : {};
  const last = messages.findLastIndex((message) => message.role === 'user');
  let wanted;
  try { wanted = JSON.parse(plain(messages[last]?.content)); } catch { wanted = undefined; }
  asked.push({ tools: tools.map((tool) => tool.function.name), system: messages.filter((m) => m.role === 'system').map((m) => plain(m.content)).join('\n') });
  const answered = messages.slice(last + 1).some((message) => message.role === 'tool');
  const calls = wanted?.tool && !answered && tools.length > 0;
  const delta = calls
    ? { role: 'assistant', tool_calls: [{ index: 0, id: `call_${asked.length}`, type: 'function', function: { name: wanted.tool, arguments: JSON.stringify(wanted.arguments) } }] }
    : { role: 'assistant', content: 'done' };
  const chunk = (choice, more = {}) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'stand-in', choices: [{ index: 0, ...choice }], ...more })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(chunk({ delta, finish_reason: null })
    + chunk({ delta: {}, finish_reason: calls ? 'tool_calls' : 'stop' }, { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } })
    + 'data: [DONE]\n\n');
});
await new Promise((done) => model.listen(0, '127.0.0.1', done));

// A configuration that somebody already has, comments included; gatelatch is added by its own command.
const config = path.join(project, 'opencode.jsonc');
fs.writeFileSync(config, `{
  // ours
  "$schema": "https://opencode.ai/config.json",
  "autoupdate": false, "share": "disabled", "snapshot": false,
  "model": "stand-in/stand-in", "small_model": "stand-in/stand-in", "enabled_providers": ["stand-in"],
  "provider": {
    "stand-in": {
      "npm": "@ai-sdk/openai-compatible", "name": "stand-in",
      "options": { "baseURL": "http://127.0.0.1:${model.address().port}/v1", "apiKey": "none" },
      "models": { "stand-in": { "name": "stand-in", "tool_call": true, "limit": { "context": 200000, "output": 4000 } } },
    },
  },
}
`);
const before = fs.readFileSync(config, 'utf8');
execFileSync(gatelatch, ['connect', 'opencode', '--write'], { cwd: project, env, stdio: ['ignore', 'ignore', 'inherit'] });
check('the comment in the configuration is kept', fs.readFileSync(config, 'utf8').includes('// ours'));

const port = await new Promise((done) => {
  const probe = http.createServer().listen(0, '127.0.0.1', () => { const { port } = probe.address(); probe.close(() => done(port)); });
});
const log = fs.openSync(path.join(work, 'serve.log'), 'w');
const serve = spawn(opencode, ['serve', '--port', String(port), '--hostname', '127.0.0.1', '--pure'], { cwd: project, env, stdio: ['ignore', log, log], detached: true });
children.push(serve);
async function api(method, where, body, seconds = 60) {
  const answer = await fetch(`http://127.0.0.1:${port}${where}`, {
    method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body), signal: AbortSignal.timeout(seconds * 1000),
  });
  const text = await answer.text();
  return text ? JSON.parse(text) : null;
}

// One turn that asks for one tool call: the tool's part, and the permissions that opencode asked for.
async function turn(tool, args, reply) {
  const { id } = await api('POST', '/session', { title: 'main job' });
  const text = JSON.stringify({ tool, arguments: args });
  let done = false;
  const message = api('POST', `/session/${id}/message`, { model: { providerID: 'stand-in', modelID: 'stand-in' }, parts: [{ type: 'text', text }] }, 90)
    .catch(() => null).finally(() => { done = true; });
  const permissions = new Map();
  while (!done) {
    for (const permission of await api('GET', '/permission') ?? []) {
      if (permission.sessionID !== id || permissions.has(permission.id)) continue;
      permissions.set(permission.id, permission.permission);
      await api('POST', `/permission/${permission.id}/reply`, { reply });
    }
    await pause(100);
  }
  await message;
  const parts = (await api('GET', `/session/${id}/message`)).flatMap((message) => message.parts).filter((part) => part.type === 'tool');
  const state = parts.at(-1)?.state ?? {};
  return { status: state.status, text: String(state.output ?? state.error ?? ''), permissions: [...permissions.values()] };
}
const sent = () => fs.existsSync(path.join(outbox, 'sent')) ? fs.readdirSync(path.join(outbox, 'sent'), { recursive: true }).filter((name) => fs.statSync(path.join(outbox, 'sent', name)).isFile()).length : 0;

try {
  const deadline = Date.now() + 60_000;
  let status;
  while (Date.now() < deadline && !status) {
    await pause(200);
    if (fs.readFileSync(path.join(work, 'serve.log'), 'utf8').includes('listening on')) status = await api('GET', '/mcp', undefined, 8).catch(() => undefined);
  }
  check('opencode connects', status?.gatelatch?.status === 'connected', JSON.stringify(status));

  const hello = await turn('gatelatch_run_tool', { tool: 'hello-world', args: { name: 'MCP' } }, 'reject');
  check('a read-only call runs without a question', hello.status === 'completed' && hello.text.includes('MCP') && hello.permissions.length === 0, JSON.stringify(hello));
  check('the model is told the instructions', asked.some(({ system }) => /gatelatch/i.test(system)));

  const call = { tool: 'outbox', action: 'send-message', args: { to: 'ada@example.org', subject: 'Minutes', body: 'As agreed.' } };
  const refused = await turn('gatelatch_run_tool', call, 'once');
  check('a send is refused on the plain tool', refused.text.includes('approval_required') && refused.permissions.length === 0 && sent() === 0, JSON.stringify(refused));

  const no = await turn('gatelatch_run_tool_confirmed', call, 'reject');
  check('opencode asks before the confirmed tool, and a no stops it', no.permissions.includes('gatelatch_run_tool_confirmed') && no.status === 'error' && sent() === 0, JSON.stringify(no));

  const yes = await turn('gatelatch_run_tool_confirmed', call, 'once');
  check('a yes leaves the message in the outbox', yes.permissions.includes('gatelatch_run_tool_confirmed') && yes.status === 'completed' && sent() === 1, `${sent()} ${JSON.stringify(yes)}`);

  const listed = await turn('gatelatch_run_tool', { tool: 'outbox', action: 'list-messages', args: { folder: 'sent' } }, 'reject');
  check('the sent message is listed', listed.text.includes('Minutes'), listed.text);

  const six = asked.flatMap(({ tools }) => tools).filter((name) => name.startsWith('gatelatch_'));
  check('the six tools are offered', new Set(six).size === 6, [...new Set(six)].join(' '));

  execFileSync(gatelatch, ['connect', 'opencode', '--undo'], { cwd: project, env, stdio: ['ignore', 'ignore', 'inherit'] });
  check('--undo leaves the configuration as it was', fs.readFileSync(config, 'utf8') === before);
} catch (error) {
  check('it runs to its end', false, `${error.stack}\n${fs.readFileSync(path.join(work, 'serve.log'), 'utf8').slice(-500)}`);
} finally {
  for (const child of children) {
    try { process.kill(-child.pid, 'SIGKILL'); } catch { /* it has ended */ }
  }
  model.close();
  model.closeAllConnections();
  await pause(200);
  fs.rmSync(work, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed || !passed ? 1 : 0);
