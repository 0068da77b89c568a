/** What the engine asks of the producer's container: whether runs can be asked for. It ends with 0 or 1. */
const port = process.env['HOTCELL_LISTEN_PORT'] ?? '7411';
const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
process.exitCode = answer.ok ? 0 : 1;
