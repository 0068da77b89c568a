import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApi } from '@hotcell/contract/api/openapi.ts';
import type { Route } from '@hotcell/contract/api/route.ts';
import { routes } from '@hotcell/contract/api/routes.ts';

const described = JSON.stringify(openApi());

test('every schema that the description of the API refers to is in it', () => {
  const { components } = openApi() as { components?: { schemas?: object } };
  const named = Object.keys(components?.schemas ?? {});
  const referred = new Set([...described.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, id]) => id));
  assert.deepEqual(
    [...referred].filter((id) => !named.includes(id ?? '')),
    [],
  );
  assert.doesNotMatch(described, /"\$(id|schema|defs)"/);
});

test('every operation says what it is, what it answers, and which problems it may answer', () => {
  for (const [id, route] of Object.entries<Route>(routes)) {
    assert.match(route.summary, /^[A-Z].{10,}[^.]$/, id);
    assert.ok(Object.keys(route.answers).length > 0, id);
    const operation = (openApi()['paths'] as Record<string, Record<string, { responses: object }>>)[route.path];
    const responses = operation?.[route.method.toLowerCase()]?.responses ?? {};
    assert.ok('500' in responses, id);
    assert.equal('401' in responses && '403' in responses, route.role !== 'anyone', id);
    assert.equal('415' in responses, route.method !== 'GET', id);
  }
});
