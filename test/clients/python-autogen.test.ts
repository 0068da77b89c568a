import assert from 'node:assert/strict';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { command } from '@hotcell/setup/command.ts';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import { type PythonHouse, openPythonHouse } from '../support/python-house.ts';
import { autogenTests } from '../support/python-client.ts';

/** The executor in place of AutoGen's: our own tests, and AutoGen's with the class swapped. */
let house: PythonHouse;

before(async () => {
  house = await openPythonHouse();
});
after(() => house[Symbol.asyncDispose]());

test('the executor keeps work_dir, limits, cancelling and options as AutoGen’s callers expect them', () =>
  house.passes('test_autogen.py'));

test('the Jupyter executor keeps names, pictures, limits and cancelling as AutoGen’s callers expect them', () =>
  house.passes('test_autogen_jupyter.py'));

test('AutoGen’s agents and teams, Magentic-One among them, run with it and a scripted model', () =>
  house.passes('test_autogen_agents.py'));

/** What of AutoGen's files is left out, and why. */
const leftOut: Readonly<Record<string, string>> = {
  test_docker_commandline_code_executor_extra_args: 'volumes, hosts and an init command of the host: refused by name',
  test_local_executor_with_custom_venv: 'a virtual environment of the host can’t be in a cell',
  test_local_executor_with_custom_venv_in_local_relative_path: 'the same',
  test_local_executor_with_custom_uv_venv: 'the same',
  test_local_executor_with_custom_uv_venv_in_local_relative_path: 'the same',
  test_local_commandline_code_executor_restart: 'wants the warning that a restart does nothing',
  test_cleanup_temp_files_oserror: 'replaces pathlib’s unlink and wants its error in the log',
  test_ps1_script: 'the image has no PowerShell',
  'test_jupyter_code_executor.py::test_commandline_code_executor_timeout':
    'JupyterCodeExecutor raises; the Docker one answers Timeout, and so do we',
  'test_jupyter_code_executor.py::test_runtime_error_not_started':
    'JupyterCodeExecutor has to be started; the Docker one starts by itself, and so do we',
  'test_jupyter_code_executor.py::test_execute_code_with_image_output':
    'JupyterCodeExecutor names no file in the output; the Docker one does, and so do we',
  'test_jupyter_code_executor.py::test_execute_code_with_html_output': 'the same',
  'test_docker_jupyter_code_executor.py::test_canncellation':
    'wants a file in a folder that the kernel shares with the host: a cell shares none',
  test_create_temp_dir: 'the local executor has a folder before it is started; the Docker one raises, and so do we',
};

const files = [
  'code_executors/test_docker_commandline_code_executor.py',
  'code_executors/test_commandline_code_executor.py',
  'code_executors/test_user_defined_functions.py',
  'code_executors/test_jupyter_code_executor.py',
  'code_executors/test_docker_jupyter_code_executor.py',
  'tools/test_python_code_executor_tool.py',
];

test('AutoGen’s own tests of its executors pass with the class swapped', async () => {
  const { bed, python } = house;
  const sources = await autogenTests(bed);
  const cwd = await bed.folder('autogen');
  await copyFile(join(checkout, 'test/python/swapped.py'), join(cwd, 'swapped.py'));
  await writeFile(join(cwd, 'pytest.ini'), '[pytest]\nasyncio_mode = auto\nmarkers = windows\n');
  const there = new Set<string>();
  for (const file of files) {
    const text = await readFile(join(sources, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/def (test_\w+)/g)) there.add(name);
    const swapped = text.replaceAll(
      /^from autogen_ext\.code_executors\.(docker|local|jupyter|docker_jupyter) import/gm,
      'from swapped import',
    );
    assert.notEqual(swapped, text, `${file} names no executor`);
    await writeFile(join(cwd, basename(file)), swapped);
  }
  assert.deepEqual(
    Object.keys(leftOut).filter((name) => !there.has(name.replace(/.*::/, ''))),
    [],
  );
  const left = Object.keys(leftOut).flatMap((name) =>
    name.includes('::') ? [`--deselect=${name}`] : files.map((file) => `--deselect=${basename(file)}::${name}`),
  );
  const env = { ...(await house.env()), TMPDIR: cwd, PYTHONDONTWRITEBYTECODE: '1' };
  const argv = [python, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-rs', ...left, '.'] as const;
  const { code, stdout, stderr } = await command(argv, { cwd, env });
  assert.equal(code, 0, `${stdout.slice(-100_000)}\n${stderr}`);
  assert.doesNotMatch(stdout, /skipped/, stdout);
});
