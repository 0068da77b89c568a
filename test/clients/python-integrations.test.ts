import { after, before, test } from 'node:test';
import { openPythonHouse, type PythonHouse } from '../support/python-house.ts';

/** The frameworks themselves, from PyPI, with a scripted model in the place of an LLM. */
let house: PythonHouse;

before(async () => {
  house = await openPythonHouse('integrations');
});
after(() => house[Symbol.asyncDispose]());

test('a deep agent of LangChain works in a sealed sandbox', () => house.passes('integrations/test_deepagents.py'));

test('an agent of the OpenAI Agents SDK runs its shell in sealed cells', () =>
  house.passes('integrations/test_openai_agents.py'));

test('an AG2 agent runs its code in sealed cells', () => house.passes('integrations/test_ag2.py'));

test('an agent of agent-framework runs its code in sealed cells', () =>
  house.passes('integrations/test_agent_framework.py'));

test('a shell of agent-framework runs its commands in sealed cells', () =>
  house.passes('integrations/test_agent_framework_shell.py'));

test('a CodeAgent of smolagents keeps its names and runs its tools in one sealed session', () =>
  house.passes('integrations/test_smolagents.py'));

test('a workspace of pydantic-ai passes pydantic-ai’s own conformance suite in a sealed session', () =>
  house.passes('integrations/test_pydantic_ai.py'));

test('every example of the page about frameworks runs as it stands', () => house.passes('test_examples.py'));
