"""Adapters to other libraries: Gymnasium environments as worlds and worlds as environments, and batches in JAX.

GymWorld                   a Gymnasium environment as a world                  gymnasium.py
WorldEnv, to_gymnasium     a world as a Gymnasium environment                  gymnasium.py
gptd_batch                 batches of value beliefs in JAX (extra `jax`)       jax.py
"""

from typing import TYPE_CHECKING

from bayesrl._lazy import export

if TYPE_CHECKING:
    from bayesrl.adapters import gymnasium as gymnasium
    from bayesrl.adapters import jax as jax
    from bayesrl.adapters.gymnasium import GymWorld as GymWorld
    from bayesrl.adapters.gymnasium import WorldEnv as WorldEnv
    from bayesrl.adapters.gymnasium import to_gymnasium as to_gymnasium
    from bayesrl.adapters.jax import gptd_batch as gptd_batch

export(
    __name__,
    {"gymnasium": ("GymWorld", "WorldEnv", "to_gymnasium"), "jax": ("gptd_batch",)},
    modules=("gymnasium", "jax"),
)
