import { findLanguage, type Language } from './languages.ts';
import type { Block } from './spec.ts';

interface Flag {
  name: string;
  /** Undefined: in any language. */
  languages?: readonly string[];
  pattern: RegExp;
  advice: string;
}

const sealed = 'there is no network in a cell';
const build =
  'packages come with the image: ./hotcell image build NAME --from python --requirements requirements.txt, then have NAME added to the policy';

/**
 * Cheap static flags. They protect nothing (the cell does): they tell the submitter early what will fail, and whoever
 * approves or audits a run what to look at. Every pattern is a plain search without nested repetition, and the text that
 * is searched is bounded, because it is a stranger's.
 */
const flags: readonly Flag[] = [
  {
    name: 'installs_packages',
    pattern:
      /(?:\bpip3?|\bpipx|\bconda|\bmamba|\bpoetry|\buv(?: pip)?|\bapt|\bapt-get|\bapk|\bdnf|\byum|\bbrew|\bgem|\bcargo|\bnpm|\bpnpm|\byarn)(?:["', ]{1,4})(?:-\S{1,20} )?(?:install|add|ci)\b|\binstall\.packages\(/,
    advice: `this will fail: ${sealed}; ${build}`,
  },
  {
    name: 'virtual_environment',
    pattern: /\b(?:virtualenv|venv\.create|conda create)\b|-m["', ]{1,4}venv\b/,
    advice: `a virtual environment is of no use: ${sealed}; ${build}`,
  },
  {
    name: 'opens_sockets',
    pattern:
      /\b(?:import socket|from socket|socket\.socket|create_connection|import requests|from requests|import httpx|import aiohttp|urllib\.request|urllib3|http\.client|urlopen|import smtplib|import ftplib|import paramiko|import boto3|node:(?:net|http|https|dgram|dns|tls)|require\(["'](?:net|http|https|dgram|dns|tls)["']\)|fetch\(["'`]|XMLHttpRequest|new WebSocket|download\.file\(|url\(["'])/,
    advice: `this will fail: ${sealed}; freeze the data as a snapshot and read it at /inputs`,
  },
  {
    name: 'network_client',
    pattern:
      /(?<=^|[\s"'`;|&($])(?:curl|wget|nc|ncat|netcat|telnet|ssh|scp|sftp|rsync|dig|nslookup|ping|git clone)["',]{0,3} /m,
    advice: `this will fail: ${sealed}, and the images carry no network clients; freeze the data as a snapshot`,
  },
  {
    name: 'addresses',
    pattern: /\b(?:https?|ftp|s3|gs|postgres(?:ql)?|mysql|mongodb|redis|wss?):\/\/[A-Za-z0-9]/,
    advice: `an address of the network: ${sealed}; freeze the data as a snapshot and read it at /inputs`,
  },
  {
    name: 'absent_paths',
    pattern:
      /(?<=^|[\s"'`=(:])(?:\/var\/run\/docker\.sock|\/home\/[a-z]|\/Users\/|\/root\/|\/mnt\/|\/media\/|\/data\/|\/content\/|\/etc\/(?:shadow|kubernetes)|\/run\/secrets|~\/|C:\\)/m,
    advice:
      'reads or writes a path that does not exist here: inputs are at /inputs/NAME, scratch is /work and /tmp, results go to /outputs',
  },
  {
    name: 'metadata_service',
    pattern: /\b169\.254\.169\.254\b|metadata\.google\.internal/,
    advice: 'asks a cloud’s metadata service: a cell has no network and no identity of its host',
  },
  {
    name: 'shells_out',
    languages: ['python', 'javascript', 'typescript', 'r', 'powershell'],
    pattern:
      /\b(?:os\.system|os\.popen|os\.exec[lv]|subprocess\.|pty\.spawn|child_process|execSync\(|spawnSync\(|system2?\(["']|Start-Process|Invoke-Expression)/,
    advice: 'starts other programs: only what the image has can be started, with the same rights and limits',
  },
  {
    name: 'runs_built_text',
    // A method of that name (a data frame's eval, a pattern's exec) is none of it.
    pattern: /(?<![.\w])(?:eval|exec)\(|\bnew Function\(|\bmarshal\.loads|\bpickle\.loads?\(|base64 (?:-d|--decode)/,
    advice: 'runs text that it makes or decodes: what is run cannot be read here',
  },
  {
    name: 'mentions_credentials',
    pattern:
      /\b(?:AKIA[0-9A-Z]{16}|ASIA[0-9A-Z]{16}|ghp_[A-Za-z0-9]{20}|sk-[A-Za-z0-9]{20}|xox[bp]-[A-Za-z0-9-]{10}|AWS_SECRET_ACCESS_KEY)\b|-----BEGIN [A-Z ]{0,20}PRIVATE KEY|\b(?:password|passwd|secret|api_?key|access_?token)["']? ?[:=] ?["'][^"']{4}/i,
    advice: 'mentions a credential: it would stand in the record for good; a cell needs none, it reaches nothing',
  },
];

const longLine = 2000;
const longAdvice = `has more than ${longLine} characters: hard to read for anybody (long_line)`;
const searched = 256 * 1024;
const mostWarnings = 32;

interface Remark {
  line: number;
  text: string;
}

function lineOf(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

const blob = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{512}/;
const blobAdvice =
  'carries a long encoded blob: bundle it as a file or freeze it as an input, so that it is bound by its own digest (base64_blob)';

/** Lines that only a machine can have written; a blob is looked for in these alone. */
function longLines(text: string): Remark[] {
  const remarks: Remark[] = [];
  for (let from = 0, line = 1; from <= text.length && remarks.length < 2; line++) {
    const end = text.indexOf('\n', from);
    const stop = end < 0 ? text.length : end;
    const is = (advice: string) => remarks.some((remark) => remark.text === advice);
    if (stop - from > longLine && !is(longAdvice)) remarks.push({ line, text: longAdvice });
    if (stop - from >= 512 && !is(blobAdvice) && blob.test(text.slice(from, stop)))
      remarks.push({ line, text: blobAdvice });
    from = stop + 1;
  }
  return remarks;
}

function remarksOn(code: string, language: string | undefined): Remark[] {
  const text = code.slice(0, searched);
  const found = flags
    .filter((flag) => !flag.languages || (language !== undefined && flag.languages.includes(language)))
    .flatMap((flag): Remark[] => {
      const index = flag.pattern.exec(text)?.index;
      return index === undefined ? [] : [{ line: lineOf(text, index), text: `${flag.advice} (${flag.name})` }];
    });
  const rest: Remark[] =
    code.length > searched
      ? [{ line: lineOf(text, searched), text: 'what follows was not looked at, the block is too long (unsearched)' }]
      : [];
  return [...found, ...longLines(text), ...rest].toSorted((a, b) => a.line - b.line);
}

/** Advice about each block, `blocks[0] line 3: …`; of each flag its first line only. */
export function screen(blocks: readonly Block[], languages: readonly Language[]): string[] {
  const warnings: string[] = [];
  for (const [index, block] of blocks.entries()) {
    if (warnings.length >= mostWarnings) return [...warnings, `blocks[${index}] and later: not looked at (unsearched)`];
    const remarks =
      'argv' in block
        ? remarksOn(block.argv.join(' '), undefined)
        : remarksOn(block.code, findLanguage(languages, block.language)?.name);
    warnings.push(...remarks.map((remark) => `blocks[${index}] line ${remark.line}: ${remark.text}`));
  }
  return warnings;
}
