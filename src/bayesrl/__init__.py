"""Bayesian reinforcement learning: one small set of words for every method of the survey.

    import bayesrl as b

    world = b.make_world("chain")
    agent = b.BayesAgent(b.DirichletMDP.flat(world), b.make("beb", beta=3.0))
    record = b.run(agent, world, steps=1000, seed=0)

Names are imported when they are first used, so that `import bayesrl` and `bayesrl --help` answer at once.
"""

from bayesrl._lazy import export

export(__name__)
