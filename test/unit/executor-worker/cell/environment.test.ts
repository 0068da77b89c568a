import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { environmentOf } from '@hotcell/executor-worker/cell/cell-image.ts';
import { testLimits } from '../../../support/limits.ts';

const ours = {
  HOME: '/work',
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
  PYTHONUNBUFFERED: '1',
  HOTCELL_INPUTS: '/inputs',
  HOTCELL_OUTPUTS: '/outputs',
  OMP_NUM_THREADS: '2',
  OPENBLAS_NUM_THREADS: '2',
  MKL_NUM_THREADS: '2',
  NUMEXPR_NUM_THREADS: '2',
};
const image = (env: Record<string, string>) => ({ id: 'sha256:x', env });

describe('the environment of a job', () => {
  test('is exactly ours, with the image’s PATH', () => {
    assert.deepEqual(
      environmentOf(
        { env: {}, imageEnv: [], limits: testLimits },
        image({ PATH: '/opt/bin', LANG: 'de_DE', SECRET: 'x' }),
      ),
      {
        ...ours,
        PATH: '/opt/bin',
      },
    );
  });
  test('has a PATH for an image without one', () => {
    for (const env of [{}, { PATH: '' }])
      assert.match(
        environmentOf({ env: {}, imageEnv: [], limits: testLimits }, image(env)).PATH ?? '',
        /^\/usr\/local\/sbin:.*\/bin$/,
      );
  });
  test('has the variables that the policy lets through from the image, and those it lets the job set', () => {
    const env = environmentOf(
      { env: { MODE: 'fast' }, imageEnv: ['MPLCONFIGDIR', 'CUDA_*'], limits: testLimits },
      image({ MPLCONFIGDIR: '/tmp/m', CUDA_HOME: '/cuda', OTHER: 'x' }),
    );
    assert.deepEqual(env, { ...env, MODE: 'fast', MPLCONFIGDIR: '/tmp/m', CUDA_HOME: '/cuda' });
    assert.ok(!('OTHER' in env));
  });
  test('starts as many threads as the policy gives processors, unless the job or the image may say otherwise', () => {
    const limits = { ...testLimits, cpus: 2.5 };
    const of = (env: Record<string, string>, imageEnv: string[]) =>
      environmentOf({ env, imageEnv, limits }, image({ MKL_NUM_THREADS: '7' }));
    assert.equal(of({}, []).OMP_NUM_THREADS, '3');
    assert.equal(of({ OMP_NUM_THREADS: '1' }, []).OMP_NUM_THREADS, '1');
    assert.equal(of({}, []).MKL_NUM_THREADS, '3');
    assert.equal(of({}, ['MKL_*']).MKL_NUM_THREADS, '7');
  });
  test('never has a variable that changes which code runs, and none overrides ours', () => {
    const env = environmentOf(
      { env: { HOME: '/evil', PATH: '/evil' }, imageEnv: ['*'], limits: testLimits },
      image({
        LD_PRELOAD: '/evil.so',
        PYTHONSTARTUP: '/evil.py',
        NODE_OPTIONS: '-r /evil',
        'BAD NAME': 'x',
        FINE: '1',
      }),
    );
    assert.deepEqual(Object.keys(env).toSorted(), ['FINE', 'PATH', ...Object.keys(ours)].toSorted());
    assert.equal(env.HOME, '/work');
    assert.doesNotMatch(env.PATH ?? '', /evil/);
  });
});
