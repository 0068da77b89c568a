import { HotcellError } from '@hotcell/contract/errors.ts';
import { findLanguage, languages } from '@hotcell/contract/languages.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';

const Source = z
  .union([z.string(), z.array(z.string())])
  .transform((source) => (Array.isArray(source) ? source.join('') : source));
const Notebook = z.looseObject({
  nbformat: z.number().refine((format) => format >= 4, 'is an old format. Open and save the notebook in Jupyter'),
  metadata: z.looseObject({
    kernelspec: z.looseObject({ language: z.string().optional() }).optional(),
    language_info: z.looseObject({ name: z.string().optional() }).optional(),
  }),
  cells: z.array(z.looseObject({ cell_type: z.string(), source: Source })),
});

/** They change how a notebook looks or reloads, and mean nothing in a program. */
const harmless = /^[ \t]*%(?:matplotlib|config|load_ext|reload_ext|autoreload|precision)\b/;
const magic = /^[ \t]*(?:%%?|!|\?)[A-Za-z.?/]|^[ \t]*[\w.]{1,100}\?{1,2}[ \t]*$/;
const installs = /^[ \t]*[!%][ \t]*(?:pip3?|conda|mamba|uv)\b/;

/** `!` and `%` begin no line of Python; in other languages they may. */
function linesOf(cell: string, index: number, language: string, file: string): string {
  if (language !== 'python') return cell;
  return cell
    .split('\n')
    .map((line, at) => {
      if (harmless.test(line)) return `# ${line.trim()}`;
      if (magic.test(line)) throw refused(line, `${file}, code cell ${index + 1}, line ${at + 1}`);
      return line;
    })
    .join('\n');
}

function refused(line: string, where: string): HotcellError {
  const shown = line.trim().slice(0, 60);
  const instead = installs.test(line)
    ? 'Packages are part of the image: remove the line, and use an image that has them (./hotcell image build).'
    : /^\s*!/.test(line)
      ? 'Use subprocess.run, or put the commands into a .sh file and run both files.'
      : /^\s*%%(?:bash|sh|script)/.test(line)
        ? 'Put the cell into a .sh file and run both files.'
        : 'Remove it, or write it in Python.';
  return new HotcellError('invalid', `${where}: ${shown} is a command of Jupyter, not Python. ${instead}`);
}

/** What one cell defines the next ones use, so they are one program, and one block. */
export function readNotebook(text: string, file: string) {
  const { cells, metadata } = parseJsonAs(Notebook, text, `The notebook ${file}`);
  const language = (metadata.kernelspec?.language ?? metadata.language_info?.name ?? 'python').toLowerCase();
  const comment = language === 'javascript' || language === 'typescript' ? '//' : '#';
  const code = cells.filter(({ cell_type: type, source }) => type === 'code' && source.trim() !== '');
  if (code.length === 0) throw new HotcellError('invalid', `${file} has no code cells. There is nothing to run.`);
  const parts = code.map(({ source }, index) => {
    const lines = linesOf(source, index, language, file);
    return `${comment} code cell ${index + 1}\n${lines}${lines.endsWith('\n') ? '' : '\n'}`;
  });
  const name = file.replace(/\.ipynb$/, findLanguage(languages, language)?.ending ?? '');
  return { cells: code.length, block: { language, code: parts.join('\n') }, name };
}
