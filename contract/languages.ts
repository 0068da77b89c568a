import { z } from 'zod';

const word = z
  .string()
  .max(32)
  .regex(/^[a-z0-9][a-z0-9+#._-]*$/, 'must be a-z, 0-9, +, #, ., _ and -, beginning with a letter or digit');

/** How the blocks of a language run. A policy may add languages to the table; the image brings the interpreter. */
export const Language = z.strictObject({
  name: word,
  aliases: z.array(word).max(16),
  /** `{file}` stands for the block's file in the current directory. */
  command: z
    .array(z.string().min(1).max(256))
    .min(1)
    .max(16)
    .refine((command) => command.filter((part) => part.includes('{file}')).length === 1, {
      message: 'must contain {file}, which stands for the block’s file, exactly once',
    })
    .refine((command) => !command[0]?.includes('{file}'), { message: 'must begin with a program, not with {file}' }),
  ending: z.string().regex(/^\.[A-Za-z0-9]{1,15}$/, 'must be a dot and up to 15 letters and digits'),
});
export type Language = z.infer<typeof Language>;

export const languages: readonly Language[] = [
  { name: 'python', aliases: ['py', 'python3'], command: ['python3', '{file}'], ending: '.py' },
  { name: 'bash', aliases: [], command: ['bash', '{file}'], ending: '.bash' },
  { name: 'sh', aliases: ['shell'], command: ['sh', '{file}'], ending: '.sh' },
  { name: 'javascript', aliases: ['js', 'node'], command: ['node', '{file}'], ending: '.js' },
  { name: 'typescript', aliases: ['ts'], command: ['node', '{file}'], ending: '.ts' },
  { name: 'r', aliases: ['rscript'], command: ['Rscript', '{file}'], ending: '.R' },
  {
    name: 'powershell',
    aliases: ['pwsh', 'ps1'],
    command: ['pwsh', '-NoLogo', '-NonInteractive', '-File', '{file}'],
    ending: '.ps1',
  },
];

/** By name, alias or ending (`.py`), whatever the case. */
export function findLanguage(table: readonly Language[], name: string): Language | undefined {
  const wanted = name.toLowerCase();
  return table.find(
    (one) => one.name === wanted || one.aliases.includes(wanted) || one.ending.toLowerCase() === wanted,
  );
}

/** The language of a file, by its ending. */
export function languageOfFile(table: readonly Language[], path: string): Language | undefined {
  const dot = path.lastIndexOf('.');
  return dot > path.lastIndexOf('/') ? findLanguage(table, path.slice(dot)) : undefined;
}
