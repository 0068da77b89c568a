import { openApi } from '@hotcell/contract/api/openapi.ts';

interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: unknown;
  items?: JsonSchema;
  enum?: string[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  format?: string;
}

/** The answers that the Python client reads, by the file that has their models. */
export const pythonAnswers: Readonly<Record<string, readonly string[]>> = {
  run_answers: ['AcceptedRun', 'RunPage', 'LogRow', 'Result', 'RunEvent'],
  schedule_answers: ['Schedule', 'SchedulePage', 'TickPage', 'AskedTick', 'Backfilling', 'AppliedSchedule'],
  batch_answers: ['Batch', 'BatchPage', 'BatchItemPage'],
  workflow_answers: ['Workflow', 'WorkflowPage'],
  webhook_answers: ['Webhook', 'Webhooks', 'WebhookCallbacks', 'WebhookDelivery', 'DeliveryPage'],
  policy_answers: ['PolicyPage', 'PolicyView'],
  session_answers: ['Step'],
  snapshot_answers: ['CreatedSnapshot', 'SnapshotDetail', 'Upload', 'Problem'],
};
/** Testimony that a client hands on and does not interpret. */
const opaque = new Set(['posture', 'Result.steps']);

const title = '"""Generated from the description of the API by test/docs/generate.ts: do not edit."""';

function header(body: string): string {
  const typing = ['Any', 'Literal', 'Optional', 'Union'].filter((name) => new RegExp(`\\b${name}\\b`).test(body));
  const imports = [
    ...(body.includes('datetime') ? ['from datetime import datetime'] : []),
    ...(typing.length > 0 ? [`from typing import ${typing.join(', ')}`] : []),
  ];
  return `${[title, imports.join('\n'), 'from hotcell.answer import Answer'].filter(Boolean).join('\n\n')}\n`;
}

const keywords = new Set(['from']);
/** `Answer` finds the field of a word of Python's own without its underscore. */
const snake = (name: string) =>
  keywords.has(name) ? `${name}_` : name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const pascal = (name: string) => name.slice(0, 1).toUpperCase() + name.slice(1);
const one = (name: string) => (name.endsWith('ies') ? `${name.slice(0, -3)}y` : name.replace(/s$/, ''));

/** Pydantic models of these answers, and of what they refer to. */
export function pythonModels(ids: readonly string[]): string {
  const schemas = openApi()['components'] as { schemas: Record<string, JsonSchema> };
  const classes = new Map<string, string>();

  function named(id: string): string {
    const schema = schemas.schemas[id];
    if (!schema) throw new Error(`the API has no schema ${id}`);
    if (classes.has(id)) return id;
    classes.set(id, '');
    const text = typeOf(schema, id, true);
    // The classes that it names come first.
    const own = classes.get(id) === '' ? `${id} = ${text}\n` : (classes.get(id) ?? '');
    classes.delete(id);
    classes.set(id, own);
    return id;
  }

  function typeOf(schema: JsonSchema, name: string, top = false): string {
    if (schema.$ref !== undefined) return refOf(schema.$ref);
    const options = schema.anyOf ?? schema.oneOf;
    if (options)
      return union(
        options.map((option, i) => typeOf(option, option.type === 'object' ? variant(name, option, i) : name)),
      );
    if (schema.const !== undefined) return `Literal[${JSON.stringify(schema.const)}]`;
    if (schema.enum) return `Literal[${schema.enum.map((value) => JSON.stringify(value)).join(', ')}]`;
    if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type }, name)));
    if (schema.type === 'array') return `list[${typeOf(schema.items ?? {}, one(name))}]`;
    if (schema.type === 'object')
      return schema.properties ? object(schema, top ? name : fresh(name)) : record(schema, name);
    return scalars[schema.format === 'date-time' ? 'time' : (schema.type ?? '')] ?? 'Any';
  }

  const refOf = (ref: string) => {
    const id = ref.split('/').at(-1) ?? '';
    return id === 'JsonAnswer' ? 'Any' : named(id);
  };
  const fresh = (name: string) => (classes.has(name) || schemas.schemas[name] ? `${name}Part` : name);
  const record = ({ additionalProperties }: JsonSchema, name: string) =>
    additionalProperties && typeof additionalProperties === 'object'
      ? `dict[str, ${typeOf(additionalProperties, one(name))}]`
      : 'dict[str, Any]';

  function object({ properties = {}, required = [] }: JsonSchema, name: string): string {
    const fields = Object.entries(properties).map(([key, schema]) => {
      const type = opaque.has(key) || opaque.has(`${name}.${key}`) ? 'Any' : typeOf(schema, `${name}${pascal(key)}`);
      return required.includes(key) ? `    ${snake(key)}: ${type}\n` : `    ${snake(key)}: Optional[${type}] = None\n`;
    });
    const shared = Object.keys(properties).join() === 'min,default,max';
    if (shared) name = properties['min']?.type === 'integer' ? 'Bounds' : 'FractionBounds';
    if (shared && classes.has(name)) return name;
    classes.delete(name);
    classes.set(name, `class ${name}(Answer):\n${fields.join('') || '    pass\n'}`);
    return name;
  }

  for (const id of ids) named(id);
  const body = [...classes.values()].join('\n\n');
  return `${header(body)}\n\n${body}`;
}

const scalars: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
  time: 'datetime',
};

/** Variants of a union are told apart by a constant field. */
function variant(name: string, { properties = {} }: JsonSchema, index: number): string {
  const type = properties['type']?.const;
  return typeof type === 'string' ? `${name}${pascal(type)}` : `${name}${index === 0 ? '' : index + 1}`;
}

function union(types: readonly string[]): string {
  const kinds = [...new Set(types.filter((type) => type !== 'None'))];
  const [first = 'None'] = kinds;
  const text = kinds.length > 1 ? `Union[${kinds.join(', ')}]` : first;
  return kinds.length < new Set(types).size ? `Optional[${text}]` : text;
}
