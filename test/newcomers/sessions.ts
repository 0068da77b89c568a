import type { Step } from './type-session.ts';

export interface Session {
  name: string;
  /** Needs the operator's key, and changes what others see: its views follow each other. */
  operator?: true;
  steps: readonly Step[];
}

/** What the three newcomers try first: a data analyst, a builder of agents, and an operator. */
export const sessions: readonly Session[] = [
  {
    name: 'analyst-first-run',
    steps: [
      { type: `./hotcell run total.py --input sales=sales.csv --out results` },
      { type: `cat results/total.txt` },
      { type: `./hotcell ls` },
      { type: `./hotcell rerun @last --latest-inputs` },
    ],
  },
  {
    name: 'analyst-mistakes',
    steps: [
      { type: `./hotcell run nosuch.py` },
      { type: `./hotcell run data` },
      { type: `./hotcell run total.py` },
      { type: `./hotcell run -e 'import util' --input sales=sale.csv` },
      { type: `./hotcell run -e 'import sklearn'` },
      { type: `./hotcell run -e 'open("out.csv", "w").write("1")'` },
      { type: `./hotcell run magic.ipynb` },
    ],
  },
  {
    name: 'agent-http',
    steps: [
      {
        type: `curl -s -H "authorization: Bearer $HOTCELL_API_KEY" "$HOTCELL_URL/v1/runs?stauts=failed" | cut -c1-280`,
      },
      {
        type: `curl -s -H "authorization: Bearer $HOTCELL_API_KEY" -H 'content-type: application/json' -H 'prefer: wait=60' "$HOTCELL_URL/v1/runs" -d '{"blocks":[{"language":"python","code":"print(1)"}]}' | grep -o '"stdout".*'`,
      },
      {
        type: `curl -s -H "authorization: Bearer $HOTCELL_API_KEY" -H 'content-type: application/json' "$HOTCELL_URL/v1/runs" -d '{"blocks":[{"language":"python","code":"print(1)"}],"inputs":{"sales":"./sales"}}' | grep -o '"errors".*"requestId"'`,
      },
      { type: `HOTCELL_API_KEY=hc_${'A'.repeat(43)} ./hotcell ls` },
    ],
  },
  {
    name: 'agent-detach',
    steps: [
      {
        type: `./hotcell run -e 'import time; print("begun", flush=True); time.sleep(50)'`,
        pipe: `./hotcell submit -e 'print("begun")'`,
        answers: [{ after: 'begun', keys: '\u0003' }],
      },
      {
        type: `./hotcell cancel @last --reason 'not needed' && ./hotcell wait @last`,
        pipe: `./hotcell wait @last && ./hotcell cancel @last`,
      },
      { type: `./hotcell show @last | grep -E '^(status|outcome|reason)'` },
      { type: `./hotcell run -e '1 / 0' --name fails --quiet` },
      { type: `./hotcell diff @last @last | tail -3` },
    ],
  },
  {
    name: 'operator-workers',
    operator: true,
    steps: [
      { type: `./hotcell workers drain nosuch` },
      { type: `./hotcell policy test nosuch` },
      { type: `./hotcell workers drain $(hostname)` },
      { type: `./hotcell workers resume $(hostname)` },
      { type: `./hotcell tenant create finance` },
      { type: `./hotcell quota set finance --running-runs 8 --quiet | head -3` },
      { type: `./hotcell apikey create --tenant nosuch` },
      { type: `./hotcell service logs nosuch` },
    ],
  },
  {
    name: 'operator-purge',
    operator: true,
    steps: [
      { type: `./hotcell run -e 'print(1)' --policy reviewed` },
      { type: `./hotcell quota show finance | head -3` },
      {
        type: `./hotcell down --purge`,
        answers: [{ after: 'to remove it: ', keys: 'no\n' }],
      },
    ],
  },
];
