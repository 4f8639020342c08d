"""Named domains of the literature, one per file, each with its optimum and its published set-up.

The package exports the class or function of every registered world (`bayesrl.worlds.chain(gamma=0.95)`). It can also be
called: `bayesrl.worlds()` lists every registered world and family of worlds.
"""

import sys
from typing import TYPE_CHECKING

from bayesrl._lazy import Package, export

if TYPE_CHECKING:
    import bayesrl.registry
    from bayesrl.worlds import hidden as hidden
    from bayesrl.worlds import tabular as tabular
    from bayesrl.worlds.bandits.bernoulli import bernoulli as bernoulli
    from bayesrl.worlds.bandits.chapelle_li_bandit import chapelle_li as chapelle_li
    from bayesrl.worlds.bandits.combinatorial import combinatorial as combinatorial
    from bayesrl.worlds.bandits.contextual_shop import contextual_shop as contextual_shop
    from bayesrl.worlds.bandits.gaussian import gaussian as gaussian
    from bayesrl.worlds.bandits.linear import linear as linear
    from bayesrl.worlds.bandits.logistic import logistic as logistic
    from bayesrl.worlds.bandits.online_shop import online_shop as online_shop
    from bayesrl.worlds.bandits.online_shop_several import online_shop_several as online_shop_several
    from bayesrl.worlds.continuous.blimp import Blimp as Blimp
    from bayesrl.worlds.continuous.bpg_bandit import BPGBandit as BPGBandit
    from bayesrl.worlds.continuous.bpg_regulator import BPGRegulator as BPGRegulator
    from bayesrl.worlds.continuous.car_on_the_hill import CarOnTheHill as CarOnTheHill
    from bayesrl.worlds.continuous.continuous_bandit import continuous_bandit as continuous_bandit
    from bayesrl.worlds.continuous.lq import LQ as LQ
    from bayesrl.worlds.continuous.lq_system import lq_system as lq_system
    from bayesrl.worlds.continuous.maze_2d import Maze2D as Maze2D
    from bayesrl.worlds.continuous.mountain_car import MountainCar as MountainCar
    from bayesrl.worlds.continuous.random_walk import RandomWalk as RandomWalk
    from bayesrl.worlds.continuous.robot_navigation import RobotNavigation as RobotNavigation
    from bayesrl.worlds.continuous.ship_steering import ShipSteering as ShipSteering
    from bayesrl.worlds.continuous.web_server import web_server as web_server
    from bayesrl.worlds.games.climbing_game import climbing_game as climbing_game
    from bayesrl.worlds.games.coalitions import coalitions as coalitions
    from bayesrl.worlds.games.penalty_game import penalty_game as penalty_game
    from bayesrl.worlds.games.two_agent_chain import TwoAgentChain as TwoAgentChain
    from bayesrl.worlds.hidden import POMDPWorld as POMDPWorld
    from bayesrl.worlds.mdps.chain import chain as chain
    from bayesrl.worlds.mdps.chain_semi import chain_semi as chain_semi
    from bayesrl.worlds.mdps.chain_tied import chain_tied as chain_tied
    from bayesrl.worlds.mdps.dearden_maze import dearden_maze as dearden_maze
    from bayesrl.worlds.mdps.double_loop import double_loop as double_loop
    from bayesrl.worlds.mdps.gc import gc as gc
    from bayesrl.worlds.mdps.gdl import gdl as gdl
    from bayesrl.worlds.mdps.grid5 import grid5 as grid5
    from bayesrl.worlds.mdps.grid10 import grid10 as grid10
    from bayesrl.worlds.mdps.grid_bbrl import grid_bbrl as grid_bbrl
    from bayesrl.worlds.mdps.infinite_grid import infinite_grid as infinite_grid
    from bayesrl.worlds.oracles.asking_for_action import AskingForAction as AskingForAction
    from bayesrl.worlds.oracles.asking_for_confirmation import AskingForConfirmation as AskingForConfirmation
    from bayesrl.worlds.oracles.asking_for_state import AskingForState as AskingForState
    from bayesrl.worlds.pomdps.follow import follow as follow
    from bayesrl.worlds.pomdps.hallway import hallway as hallway
    from bayesrl.worlds.pomdps.load_unload import load_unload as load_unload
    from bayesrl.worlds.pomdps.online_shop_hidden import online_shop_hidden as online_shop_hidden
    from bayesrl.worlds.pomdps.rock_sample import rock_sample as rock_sample
    from bayesrl.worlds.pomdps.shuttle import shuttle as shuttle
    from bayesrl.worlds.pomdps.sysadmin import sysadmin as sysadmin
    from bayesrl.worlds.pomdps.tiger import tiger as tiger
    from bayesrl.worlds.pomdps.tiger_episodic import tiger_episodic as tiger_episodic
    from bayesrl.worlds.pomdps.tiger_tied import tiger_tied as tiger_tied
    from bayesrl.worlds.risk.inventory import inventory as inventory
    from bayesrl.worlds.risk.inventory_binomial import inventory_binomial as inventory_binomial
    from bayesrl.worlds.risk.machine_costs import MachineCosts as MachineCosts
    from bayesrl.worlds.risk.machine_repair import machine_repair as machine_repair
    from bayesrl.worlds.risk.machine_replacement import machine_replacement as machine_replacement
    from bayesrl.worlds.settings import Published as Published
    from bayesrl.worlds.settings import Setting as Setting
    from bayesrl.worlds.settings import setting_of as setting_of
    from bayesrl.worlds.tabular import MDPWorld as MDPWorld
    from bayesrl.worlds.tasks.coloured_maze import coloured_maze as coloured_maze
    from bayesrl.worlds.tasks.gridworld_blocks import gridworld_blocks as gridworld_blocks
    from bayesrl.worlds.tasks.highway import highway as highway
    from bayesrl.worlds.tasks.random_mdp import random_mdp as random_mdp


class _Worlds(Package):
    def __call__(self) -> "list[bayesrl.registry.Entry]":
        from bayesrl.registry import worlds

        return worlds()


export(
    __name__,
    {
        "settings": ("Published", "Setting", "setting_of"),
        "bandits.bernoulli": ("bernoulli",),
        "bandits.chapelle_li_bandit": ("chapelle_li",),
        "bandits.combinatorial": ("combinatorial",),
        "bandits.contextual_shop": ("contextual_shop",),
        "bandits.gaussian": ("gaussian",),
        "bandits.linear": ("linear",),
        "bandits.logistic": ("logistic",),
        "bandits.online_shop": ("online_shop",),
        "bandits.online_shop_several": ("online_shop_several",),
        "continuous.blimp": ("Blimp",),
        "continuous.bpg_bandit": ("BPGBandit",),
        "continuous.bpg_regulator": ("BPGRegulator",),
        "continuous.car_on_the_hill": ("CarOnTheHill",),
        "continuous.continuous_bandit": ("continuous_bandit",),
        "continuous.lq": ("LQ",),
        "continuous.lq_system": ("lq_system",),
        "continuous.maze_2d": ("Maze2D",),
        "continuous.mountain_car": ("MountainCar",),
        "continuous.random_walk": ("RandomWalk",),
        "continuous.robot_navigation": ("RobotNavigation",),
        "continuous.ship_steering": ("ShipSteering",),
        "continuous.web_server": ("web_server",),
        "games.climbing_game": ("climbing_game",),
        "games.coalitions": ("coalitions",),
        "games.penalty_game": ("penalty_game",),
        "games.two_agent_chain": ("TwoAgentChain",),
        "hidden": ("POMDPWorld",),
        "mdps.chain": ("chain",),
        "mdps.chain_semi": ("chain_semi",),
        "mdps.chain_tied": ("chain_tied",),
        "mdps.dearden_maze": ("dearden_maze",),
        "mdps.double_loop": ("double_loop",),
        "mdps.gc": ("gc",),
        "mdps.gdl": ("gdl",),
        "mdps.grid10": ("grid10",),
        "mdps.grid5": ("grid5",),
        "mdps.grid_bbrl": ("grid_bbrl",),
        "mdps.infinite_grid": ("infinite_grid",),
        "oracles.asking_for_action": ("AskingForAction",),
        "oracles.asking_for_confirmation": ("AskingForConfirmation",),
        "oracles.asking_for_state": ("AskingForState",),
        "pomdps.follow": ("follow",),
        "pomdps.hallway": ("hallway",),
        "pomdps.load_unload": ("load_unload",),
        "pomdps.online_shop_hidden": ("online_shop_hidden",),
        "pomdps.rock_sample": ("rock_sample",),
        "pomdps.shuttle": ("shuttle",),
        "pomdps.sysadmin": ("sysadmin",),
        "pomdps.tiger": ("tiger",),
        "pomdps.tiger_episodic": ("tiger_episodic",),
        "pomdps.tiger_tied": ("tiger_tied",),
        "risk.inventory": ("inventory",),
        "risk.inventory_binomial": ("inventory_binomial",),
        "risk.machine_costs": ("MachineCosts",),
        "risk.machine_repair": ("machine_repair",),
        "risk.machine_replacement": ("machine_replacement",),
        "tabular": ("MDPWorld",),
        "tasks.coloured_maze": ("coloured_maze",),
        "tasks.gridworld_blocks": ("gridworld_blocks",),
        "tasks.highway": ("highway",),
        "tasks.random_mdp": ("random_mdp",),
    },
    modules=("hidden", "tabular"),
)
sys.modules[__name__].__class__ = _Worlds
