const beatMs = 2500;

/** How set-up reports its progress: a line for each step, and a sign of life during long ones. */
export interface SetupProgress {
  step<T>(title: string, work: (say: (line: string) => void) => Promise<T>): Promise<T>;
  note(text: string): void;
}

interface Running {
  title: string;
  since: number;
  last: string;
}

function seconds(since: number): string {
  const elapsed = (performance.now() - since) / 1000;
  return elapsed < 10 ? `${elapsed.toFixed(1)} s` : `${Math.round(elapsed)} s`;
}

// Tools print colours and cursor movements: show only the last readable line.
function readable(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed here
  return line
    .replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '')
    .replace(/[\x00-\x1f\x7f]/g, ' ')
    .trim();
}

export function showProgressOn(stream: NodeJS.WritableStream & { isTTY?: boolean; columns?: number }): SetupProgress {
  const running = new Set<Running>();
  const terminal = stream.isTTY === true;
  let timer: NodeJS.Timeout | undefined;

  const line = (text: string) => stream.write(terminal ? `\r\x1b[K${text}\n` : `${text}\n`);
  const beatOf = (step: Running) => `  … ${step.title}, ${seconds(step.since)}${step.last ? `: ${step.last}` : ''}`;
  const beat = () => {
    if (!terminal) {
      for (const step of running) line(beatOf(step).slice(0, 160));
      return;
    }
    const all = [...running].map(beatOf).join(' ');
    stream.write(`\r\x1b[K${all.slice(0, (stream.columns ?? 80) - 1)}`);
  };

  return {
    note: (text) => void line(text),
    async step(title, work) {
      const step: Running = { title, since: performance.now(), last: '' };
      running.add(step);
      timer ??= setInterval(beat, beatMs);
      let done = false;
      try {
        const value = await work((said) => {
          step.last = readable(said) || step.last;
        });
        done = true;
        return value;
      } finally {
        running.delete(step);
        if (running.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
        line(`  ${done ? '✓' : '✗'} ${title} (${seconds(step.since)})`);
      }
    },
  };
}

export const silent: SetupProgress = {
  note: () => {},
  step: async (_title, work) => await work(() => {}),
};
