import { findLanguage, type Language } from './languages.ts';
import type { Block } from './spec.ts';

interface Flag {
  name: string;
  /** Undefined: in any language. */
  languages?: readonly string[];
  pattern: RegExp;
  advice: string;
}

const freeze = 'Freeze the data as a snapshot and read it at /inputs.';
const sealed = 'This will fail: a cell has no network.';
const build = 'Packages are part of the image. Ask the operator for an image that has them.';

/**
 * Cheap static flags. They protect nothing (the cell does): they tell a submitter early what will fail, and an auditor
 * what to look at. Every pattern is a plain search without nested repetition, and the searched text is bounded, because
 * a stranger wrote it.
 */
const flags: readonly Flag[] = [
  {
    name: 'installs_packages',
    pattern:
      /(?:\bpip3?|\bpipx|\bconda|\bmamba|\bpoetry|\buv(?: pip)?|\bapt|\bapt-get|\bapk|\bdnf|\byum|\bbrew|\bgem|\bcargo|\bnpm|\bpnpm|\byarn)(?:["', ]{1,4})(?:-\S{1,20} )?(?:install|add|ci)\b|\binstall\.packages\(/,
    advice: `${sealed} ${build}`,
  },
  {
    name: 'virtual_environment',
    pattern: /\b(?:virtualenv|venv\.create|conda create)\b|-m["', ]{1,4}venv\b/,
    advice: `A virtual environment does not help: a cell has no network to fill it from. ${build}`,
  },
  {
    name: 'opens_sockets',
    pattern:
      /\b(?:import socket|from socket|socket\.socket|create_connection|import requests|from requests|import httpx|import aiohttp|urllib\.request|urllib3|http\.client|urlopen|import smtplib|import ftplib|import paramiko|import boto3|node:(?:net|http|https|dgram|dns|tls)|require\(["'](?:net|http|https|dgram|dns|tls)["']\)|fetch\(["'`]|XMLHttpRequest|new WebSocket|download\.file\(|url\(["'])/,
    advice: `${sealed} ${freeze}`,
  },
  {
    name: 'network_client',
    pattern:
      /(?<=^|[\s"'`;|&($])(?:curl|wget|nc|ncat|netcat|telnet|ssh|scp|sftp|rsync|dig|nslookup|ping|git clone)["',]{0,3} /m,
    advice: `${sealed} ${freeze}`,
  },
  {
    name: 'addresses',
    pattern: /\b(?:https?|ftp|s3|gs|postgres(?:ql)?|mysql|mongodb|redis|wss?):\/\/[A-Za-z0-9]/,
    advice: `The code names a network address, and a cell has no network. ${freeze}`,
  },
  {
    name: 'absent_paths',
    pattern:
      /(?<=^|[\s"'`=(:])(?:\/var\/run\/docker\.sock|\/home\/[a-z]|\/Users\/|\/root\/|\/mnt\/|\/media\/|\/data\/|\/content\/|\/etc\/(?:shadow|kubernetes)|\/run\/secrets|~\/|C:\\)/m,
    advice:
      'This path does not exist in a cell. Inputs are at /inputs/NAME, scratch is /work and /tmp, results go to /outputs.',
  },
  {
    name: 'metadata_service',
    pattern: /\b169\.254\.169\.254\b|metadata\.google\.internal/,
    advice: 'The code asks a cloud’s metadata service. A cell has no network and no identity of its host.',
  },
  {
    name: 'shells_out',
    languages: ['python', 'javascript', 'typescript', 'r', 'powershell'],
    pattern:
      /\b(?:os\.system|os\.popen|os\.exec[lv]|subprocess\.|pty\.spawn|child_process|execSync\(|spawnSync\(|system2?\(["']|Start-Process|Invoke-Expression)/,
    advice: 'The code starts other programs. Only those of the image exist, and they get the same rights and limits.',
  },
  {
    name: 'runs_built_text',
    // Not a method of that name, like a data frame's eval or a pattern's exec.
    pattern: /(?<![.\w])(?:eval|exec)\(|\bnew Function\(|\bmarshal\.loads|\bpickle\.loads?\(|base64 (?:-d|--decode)/,
    advice: 'The code runs text that it builds or decodes, so a reviewer can’t see what runs.',
  },
  {
    name: 'mentions_credentials',
    pattern:
      /\b(?:AKIA[0-9A-Z]{16}|ASIA[0-9A-Z]{16}|ghp_[A-Za-z0-9]{20}|sk-[A-Za-z0-9]{20}|xox[bp]-[A-Za-z0-9-]{10}|AWS_SECRET_ACCESS_KEY)\b|-----BEGIN [A-Z ]{0,20}PRIVATE KEY|\b(?:password|passwd|secret|api_?key|access_?token)["']? ?[:=] ?["'][^"']{4}/i,
    advice:
      'The code contains a credential, which the record would keep for good. A cell has no network, so remove it.',
  },
];

const longLine = 2000;
const longAdvice = `The line has more than ${longLine} characters, which is hard to review. (long_line)`;
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
  'The code contains a long encoded blob. Bundle it as a file or freeze it as an input, so that it has a digest of its own. (base64_blob)';

/** Lines that only a machine writes; blobs are searched in these alone. */
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
      ? [{ line: lineOf(text, searched), text: 'The rest of the block is too long to be screened. (unsearched)' }]
      : [];
  return [...found, ...longLines(text), ...rest].toSorted((a, b) => a.line - b.line);
}

/** Advice about a step of a session, as `line 3: …`. */
export function screenStep(block: Block, languages: readonly Language[]): string[] {
  return adviceOn(block, languages, '');
}

/** Advice about each block, as `blocks[0] line 3: …`: of each flag only the first line. */
export function screen(blocks: readonly Block[], languages: readonly Language[]): string[] {
  const warnings: string[] = [];
  for (const [index, block] of blocks.entries()) {
    if (warnings.length >= mostWarnings)
      return [...warnings, `blocks[${index}] and later were not screened. (unsearched)`];
    warnings.push(...adviceOn(block, languages, `blocks[${index}] `));
  }
  return warnings;
}

function adviceOn(block: Block, languages: readonly Language[], where: string): string[] {
  const remarks =
    'argv' in block
      ? remarksOn(block.argv.join(' '), undefined)
      : remarksOn(block.code, findLanguage(languages, block.language)?.name);
  return remarks.map((remark) => `${where}line ${remark.line}: ${remark.text}`);
}
