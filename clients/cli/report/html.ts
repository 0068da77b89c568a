import { visible } from '../visible.ts';

/** Text that is HTML already. Only `html` makes it, so nothing a job or a stranger wrote becomes markup. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Html | readonly Html[] | undefined;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Unprintable characters are named: reversed text could show another line than the one that ran. */
function escaped(text: string): string {
  return visible(text).replace(/[&<>"']/g, (sign) => entities[sign] ?? '');
}

function textOf(value: Value): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map((one) => one.text).join('');
  return escaped(`${value}`);
}

/** A template in which every value is escaped, unless it is HTML itself. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(parts.map((part, i) => (i < values.length ? part + textOf(values[i]) : part)).join(''));
}
