import { createHash } from 'node:crypto';
import { Html, html } from './html.ts';

const style = `
:root{color-scheme:light dark;--fg:#1b1f24;--bg:#fff;--soft:#f4f5f7;--line:#d9dce1;--dim:#5b6470;--ok:#1a7f37;--bad:#b42318;--a:#8b949e;--b:#c98500;--c:#8250df;--d:#1a7f37;--e:#0969da}
@media(prefers-color-scheme:dark){:root{--fg:#e6e8eb;--bg:#15181c;--soft:#1e2227;--line:#343a42;--dim:#9aa4b0;--ok:#4ac26b;--bad:#ff7b72}}
*{box-sizing:border-box}body{margin:0 auto;max-width:62rem;padding:1.5rem;font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg)}
h1{font-size:1.4rem;margin:0 0 .3rem}h2{font-size:1.05rem;margin:2rem 0 .6rem;border-bottom:1px solid var(--line);padding-bottom:.2rem}h3{font-size:.95rem;margin:1rem 0 .3rem;overflow-wrap:anywhere}
.ok{color:var(--ok)}.bad{color:var(--bad)}.dim{color:var(--dim)}.mono,code,pre,ol{font-family:ui-monospace,monospace;font-size:13px}
table{border-collapse:collapse;max-width:100%}td,th{text-align:left;padding:.15rem .8rem .15rem 0;vertical-align:top;overflow-wrap:anywhere}th{color:var(--dim);font-weight:500;white-space:nowrap}
.wide{overflow:auto;border:1px solid var(--line);border-radius:6px;padding:.4rem .7rem}.wide td,.wide th{white-space:pre;overflow-wrap:normal}
pre{background:var(--soft);border-radius:6px;padding:.7rem;overflow:auto;max-height:32rem;margin:.3rem 0}img{max-width:100%;height:auto;border:1px solid var(--line);border-radius:6px;background:#fff}
svg.bar{width:100%;height:18px;border-radius:4px}.q{fill:var(--a)}.s{fill:var(--b)}.l{fill:var(--c)}.r{fill:var(--d)}.p{fill:var(--e)}.key{width:.7em;height:.7em}
ol{background:var(--soft);border-radius:6px;padding:.7rem .7rem .7rem 4rem;max-height:32rem;overflow:auto;margin:.3rem 0}li{white-space:pre-wrap;overflow-wrap:anywhere}li::marker{color:var(--dim)}.stderr{color:var(--bad)}.gap{color:var(--dim);font-style:italic}
input{font:inherit;width:100%;padding:.35rem .6rem;border:1px solid var(--line);border-radius:6px;background:var(--bg);color:inherit}meter{width:9rem}
.comment{color:var(--dim);font-style:italic}.keyword{color:var(--c)}.string{color:var(--ok)}.number{color:var(--b)}
[hidden]{display:none}@media print{:root{--fg:#000;--bg:#fff;--soft:#f4f5f7;--line:#d9dce1;--dim:#5b6470;--ok:#1a7f37;--bad:#b42318}body{max-width:none;padding:0;font-size:11px}pre,ol{max-height:none;white-space:pre-wrap;overflow:visible}h2,h3{break-after:avoid}tr,img{break-inside:avoid}img{max-height:14rem;width:auto}input{display:none}}
`;

/** Ours, and the only script that the page's policy lets run: it hides the lines of the log that lack the words. */
const script = `
const box=document.getElementById('search'),lines=[...document.querySelectorAll('#log li')],found=document.getElementById('found');
if(box)box.addEventListener('input',()=>{const want=box.value.toLowerCase();let shown=0;for(const line of lines){const has=line.textContent.toLowerCase().includes(want);line.hidden=!has;if(has)shown++}found.textContent=want?shown+' of '+lines.length+' lines':''});
`;

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Nothing is loaded, sent or framed, and no script or style runs but the page's own, by their hashes. */
const policy = [
  "default-src 'none'",
  'img-src data:',
  `style-src ${hashOf(style)}`,
  `script-src ${hashOf(script)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The page around the report. The policy comes before all that is a stranger's, even the title. */
export function framed(title: string, body: readonly Html[]): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
${body}
<script>${new Html(script)}</script>
</body>
</html>
`.text;
}
