import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { highlighted } from '@hotcell/cli/report/highlight.ts';
import { reportPage } from '@hotcell/cli/report/report-page.ts';
import { growsNoFaster } from '../../../../support/growth.ts';
import { reported } from './reported.ts';

/** The tags of a page with the names of their attributes, as a browser finds them. */
const tagsOf = (page: string) =>
  [...page.matchAll(/<[!/]?[a-z][^\s>]*(?:\s+[^\s=>]+(?:="[^"]*")?)*\s*>/gi)].map(([tag]) =>
    tag.replaceAll(/="[^"]*"/g, ''),
  );
const harmless = tagsOf(reportPage(reported('word')));

describe('a page about a hostile run has the markup of a harmless one', () => {
  for (const word of [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '</pre></code><iframe src="https://example.com"></iframe>',
    '</title><script src=//example.com></script>',
    '<svg onload=alert(1)><foreignObject>',
    '<!-- <meta http-equiv=refresh content=0;url=https://example.com> -->',
    '&lt;b&gt;&#x3c;b&#x3e;',
    'javascript:alert(1)',
    '${alert(1)}`"\'',
    '\u202eevil\u2066 \u001b[31m \u0000',
  ])
    test(JSON.stringify(word), () => {
      const page = reportPage(reported(word));
      assert.deepEqual(tagsOf(page), harmless);
      assert.doesNotMatch(page, /[\u202e\u2066\u001b\u0000]/, 'unprintable characters are named');
    });

  test('and the search for tags finds what is not escaped', () =>
    assert.notDeepEqual(tagsOf(reportPage(reported('word')).replace('word', '<script>1</script>')), harmless));
});

describe('highlighted code is the code, with classes around words', () => {
  for (const [language, code, first] of [
    ['python', "def f(x):  # \"a\"\n  return '''<b>\n''' + \"it\\\"s\" + 0x1f", '<span class="keyword">def</span>'],
    ['bash', 'if true; then echo "a $b"; fi # <x>', '<span class="keyword">if</span>'],
    ['typescript', 'const a = `<${b}>`; /* " */ // x', '<span class="keyword">const</span>'],
    ['ruby', 'def f(x) # no colours', 'def'],
  ] as const)
    test(language, () => {
      const { text } = highlighted(code, language);
      assert.ok(text.startsWith(first), text);
      assert.equal(text.replaceAll(/<\/?span[^>]*>/g, ''), highlighted(code, null).text);
    });
});

test('an SVG or HTML output is text on the page, whatever it is called', () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  const page = reportPage(reported('plot', svg));
  assert.doesNotMatch(page, /image\/svg/);
  assert.match(page, /&lt;svg xmlns=&quot;/);
});

test('a report advises the latest inputs only where the run named them', () => {
  const { spec, ...run } = reported('word');
  assert.ok(spec);
  const from = (source: string | undefined) =>
    reportPage({ ...run, spec: { ...spec, inputs: spec.inputs.map((input) => ({ ...input, source })) } });
  assert.match(from('daily-sales'), /rerun \S+ --latest-inputs --wait/);
  for (const source of [`sha256:${'0'.repeat(64)}`, 'daily-sales@2', undefined])
    assert.doesNotMatch(from(source), /latest-inputs/);
});

test('the policy of the page lets only its own script and style run, and nothing load', () => {
  const page = reportPage(reported('word'));
  const policy = /Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1]?.replaceAll('&#39;', "'") ?? '';
  assert.match(policy, /default-src 'none'; img-src data:; .*base-uri 'none'; form-action 'none'$/);
  assert.doesNotMatch(policy, /unsafe/);
  for (const [element, directive] of [
    ['script', 'script-src'],
    ['style', 'style-src'],
  ] as const) {
    const texts = [...page.matchAll(new RegExp(`<${element}>([^]*?)</${element}>`, 'g'))].map(([, text]) => text ?? '');
    assert.equal(texts.length, 1);
    const hash = createHash('sha256')
      .update(texts[0] ?? '')
      .digest('base64');
    assert.ok(policy.includes(`${directive} 'sha256-${hash}'`), directive);
  }
  assert.ok(page.indexOf('Content-Security-Policy') < page.indexOf('<title>'), 'it comes before what a stranger wrote');
  assert.doesNotMatch(page, / (?:style|on\w+|href)=/, 'no attribute styles, acts or links');
});

test('a refusal, which has no spec and no limits, has a page', () => {
  const run = reported('no network here');
  const result = {
    ...run.result,
    spec: null,
    limits: null,
    image: null,
    posture: null,
    inputs: [],
    attempts: [],
    outcome: 'rejected' as const,
  };
  const page = reportPage({ ...run, result, spec: undefined, log: [], outputs: new Map() });
  assert.match(page, /limits\.cpus: no network here/);
  assert.match(page, />refused</);
});

test('a page grows no faster than what the run left', async () => {
  for (const word of ['<&>"', '\u202e'])
    await growsNoFaster({ size: 4_000, make: (size) => reported(word.repeat(size)), read: reportPage });
  const code = (word: string) => (size: number) => reported(word.repeat(size), undefined, 'python');
  for (const word of ['"\\', '# ']) await growsNoFaster({ size: 4_000, make: code(word), read: reportPage });
});

test('and it is bounded, however much that is', () => {
  const run = reported('x');
  const spec = run.spec && { ...run.spec, blocks: [{ language: 'python', code: '<'.repeat(4 * 1024 * 1024) }] };
  const log = Array.from({ length: 20_000 }, (_, seq) => ({
    seq,
    at: '',
    block: 0,
    stream: 'stdout' as const,
    text: 'x\n',
  }));
  const files = Array.from({ length: 20_000 }, (_, i) => ({
    path: `${i}`,
    size: 1,
    sha256: run.result.outputs.files[0]!.sha256,
  }));
  const result = { ...run.result, outputs: { ...run.result.outputs, files } };
  const page = reportPage({ ...run, result, spec, log });
  assert.ok(page.length < 4 * 1024 * 1024, `${page.length} characters`);
  assert.match(page, /16000 lines not shown here/);
  assert.match(page, /19500 more files/);
});
