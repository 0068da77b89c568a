import pandas as pd
import multiprocessing, os, sys, concurrent.futures, subprocess


def work(n):
    return n * n, __name__, sys.argv, os.getcwd(), multiprocessing.current_process().name


if __name__ == "__main__":
    print(multiprocessing.get_start_method(), multiprocessing.get_all_start_methods())
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(method, pool.map(work, [1, 2]))
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        print(list(pool.map(abs, [-1, -2])))
    print(os.system("env | sort; umask; echo $0; ls -l /proc/self/fd | wc -l"), os.popen("cat").read())
    print(subprocess.run(["sh", "-c", "kill -PIPE $$; echo lived"], capture_output=True))
