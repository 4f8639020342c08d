"""Adapters to other libraries: Gymnasium environments as worlds and worlds as environments, and batches in JAX.

GymWorld                   a Gymnasium environment as a world                  gymnasium.py
WorldEnv, to_gymnasium     a world as a Gymnasium environment                  gymnasium.py
gptd_batch                 batches of value beliefs in JAX (extra `jax`)       jax.py
"""

from bayesrl._lazy import export

export(__name__)
