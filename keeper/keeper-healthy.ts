import { connect } from 'node:net';
import { readKeeperSettings } from './keeper-config.ts';

const socket = connect(readKeeperSettings(process.env).HOTCELL_KEEPER_SOCKET);
socket.setTimeout(5_000, () => socket.destroy(new Error('no answer')));
socket.once('connect', () => socket.write('{"ask":"about"}\n'));
let said = '';
socket.on('data', (bytes: Buffer) => (said += bytes.toString('utf8')));
socket.once('error', () => (process.exitCode = 1));
socket.once('close', () => (process.exitCode = said.startsWith('{"ok"') ? 0 : 1));
