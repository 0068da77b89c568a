import type { Spec } from '@hotcell/contract/spec.ts';
import { visible, visibleLine } from './visible.ts';

/** What a run was asked to do, for `show`: names and small values, never the code. */
export function askedOf(spec: Spec): [string, string | undefined][] {
  const params = JSON.stringify(spec.params);
  return [
    ['blocks', spec.blocks.map(nameOf).join(', ')],
    ['files', spec.files.map(({ path }) => path).join(', ')],
    ['params', params === '{}' ? undefined : shortened(params)],
    ['inputs', spec.inputs.map(inputText).join(', ')],
    ['workspace', spec.workspace && inputText({ name: '/work', ...spec.workspace })],
    ['environment', Object.keys(spec.env).join(', ')],
    ['publish', spec.publish],
    ['publish workspace', spec.workspacePublish],
  ];
}

const longestShown = 200;
const shortened = (text: string) => (text.length > longestShown ? `${text.slice(0, longestShown)}…` : text);

type Named = { name: string } & Pick<Spec['inputs'][number], 'snapshot' | 'source'>;

function inputText({ name, snapshot, source }: Named): string {
  return source === undefined || source === snapshot ? `${name} ${snapshot}` : `${name} ${snapshot} (${source})`;
}

function nameOf(block: Spec['blocks'][number]): string {
  if ('argv' in block) return shortened(block.argv.join(' '));
  return block.file ?? `${block.language} (${block.code.length} characters)`;
}

/** The code of every block and bundled file, under a line that names it. */
export function codeOf(spec: Spec): string {
  const blocks = spec.blocks.map((block, index) =>
    section(
      `block ${index}, ${'argv' in block ? 'argv' : block.language}${'file' in block && block.file !== undefined ? `, ${block.file}` : ''}`,
      'argv' in block ? JSON.stringify(block.argv) : block.code,
    ),
  );
  const files = spec.files.map((file) =>
    section(
      `file ${file.path}`,
      'text' in file ? file.text : `(${Buffer.byteLength(file.base64, 'base64')} bytes, not text)`,
    ),
  );
  const params = section('params', JSON.stringify(spec.params, undefined, 2));
  return [...blocks, ...files, ...(JSON.stringify(spec.params) === '{}' ? [] : [params])].join('\n');
}

function section(head: string, text: string): string {
  return `==> ${visibleLine(head)} <==\n${visible(text)}${text.endsWith('\n') ? '' : '\n'}`;
}
