import { type Attack, python } from '../support/attack.ts';

export const attack: Attack = {
  lines: '64',
  tries: 'to learn something from its environment variables',
  code: python`
ours = {"PATH", "HOME", "TMPDIR", "LANG", "PYTHONUNBUFFERED", "HOTCELL_INPUTS", "HOTCELL_OUTPUTS",
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"}
observe(more=len(set(os.environ) - ours) > 0, home=os.environ.get("HOME", ""), _more=sorted(set(os.environ) - ours))
`,
  sealed: { more: false, home: '/work' },
};
